#include "hios/onnx/passes/passes.h"

namespace hios::onnx {

void drop_unused(Draft& draft) {
  std::vector<bool> needed(draft.tensors.size(), false);
  for (const DraftOutput& output : draft.outputs) needed[output.tensor.index()] = true;
  for (std::size_t i = draft.layers.size(); i-- > 0;) {
    if (!needed[draft.layers[i].output.index()]) continue;
    for (const DraftId input : draft.layers[i].inputs) needed[input.index()] = true;
  }
  std::erase_if(draft.layers,
                [&](const DraftLayer& layer) { return !needed[layer.output.index()]; });
  for (DraftTensor& tensor : draft.tensors) tensor.producer.reset();
  for (std::size_t i = 0; i < draft.layers.size(); ++i) {
    draft.tensors[draft.layers[i].output.index()].producer = i;
  }
}

void simplify(Draft& draft) {
  drop_unused(draft);
  // Before constants are folded into convolutions: functions are recognised by some of them.
  recognise_functions(draft);
  recognise_normalizations(draft);
  fold_affine(draft);
  fold_padding(draft);
}

}  // namespace hios::onnx
