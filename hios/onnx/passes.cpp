#include "hios/onnx/passes.h"

#include <algorithm>
#include <cmath>

namespace hios::onnx {
namespace {

/// Who reads what; rebuilt by each pass, since passes change it.
class Readers {
 public:
  explicit Readers(const Draft& draft)
      : draft_(draft), of_(draft.tensors.size()), wanted_(of_.size()) {
    for (std::size_t i = 0; i < draft.layers.size(); ++i) {
      for (const DraftId input : draft.layers[i].inputs) of_[input.index()].push_back(i);
    }
    for (const DraftOutput& output : draft.outputs) wanted_[output.tensor.index()] = true;
  }
  /// True if just one layer reads it, once, and it is no output.
  bool is_only_for_one(DraftId tensor) const {
    return of_[tensor.index()].size() == 1 && !wanted_[tensor.index()];
  }
  /// The layer that makes a tensor; null: the input.
  const DraftLayer* producer(DraftId tensor) const {
    const auto& made_by = draft_.tensors[tensor.index()].producer;
    return made_by ? &draft_.layers[*made_by] : nullptr;
  }

 private:
  const Draft& draft_;
  std::vector<std::vector<std::size_t>> of_;
  std::vector<bool> wanted_;
};

/// All that read `old` read `instead`.
void redirect(Draft& draft, DraftId old, DraftId instead) {
  for (DraftLayer& layer : draft.layers) {
    for (DraftId& input : layer.inputs) {
      if (input == old) input = instead;
    }
  }
  for (DraftOutput& output : draft.outputs) {
    if (output.tensor == old) output.tensor = instead;
  }
}

/// Multiplies the filters of each output channel and shifts it. `per_channel`: weights of one
/// output channel, where they are neighbours (Conv).
void scale_conv(DraftLayer& conv, bool& has_bias, std::int64_t channels, const DraftLayer& affine) {
  const auto count = static_cast<std::size_t>(channels);
  ModelWeights::Values& values = conv.parameters;
  const std::size_t each = values.weights.size() / count;
  if (!has_bias) values.bias.assign(count, 0.0f);
  for (std::size_t c = 0; c < count; ++c) {
    const double factor = affine.parameters.weights[c];
    for (std::size_t i = c * each; i < (c + 1) * each; ++i) {
      values.weights[i] = static_cast<float>(values.weights[i] * factor);
    }
    values.bias[c] = static_cast<float>(values.bias[c] * factor + affine.parameters.bias[c]);
  }
  has_bias = true;
}

}  // namespace

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

void fold_affine(Draft& draft) {
  for (DraftLayer& layer : draft.layers) {
    if (!layer.affine) continue;
    const Readers readers(draft);
    const DraftId made = layer.inputs.front();
    const auto producer = draft.tensors[made.index()].producer;
    if (!producer || !readers.is_only_for_one(made)) continue;
    DraftLayer& front = draft.layers[*producer];
    auto* conv = std::get_if<Conv>(&front.kind);
    if (conv == nullptr || draft.tensors[made.index()].shape != layer.input_shapes.front())
      continue;
    scale_conv(front, conv->bias, conv->out_channels, layer);
    redirect(draft, layer.output, made);
    layer.affine = false;  // nobody reads it now
    layer.inputs.clear();
    layer.input_shapes.clear();
  }
  drop_unused(draft);
}

void fold_padding(Draft& draft) {
  for (DraftLayer& layer : draft.layers) {
    const auto* pad = std::get_if<Pad>(&layer.kind);
    if (pad == nullptr || pad->mode != Pad::Mode::kConstant || pad->value != 0) continue;
    if (pad->begin.n + pad->begin.c + pad->end.n + pad->end.c != 0) continue;
    const Padding more({pad->begin.h, pad->begin.w}, {pad->end.h, pad->end.w});
    bool all = true;
    for (const DraftOutput& output : draft.outputs) all = all && output.tensor != layer.output;
    for (const DraftLayer& reader : draft.layers) {
      for (std::size_t i = 0; i < reader.inputs.size(); ++i) {
        if (reader.inputs[i] != layer.output) continue;
        all = all && std::holds_alternative<Conv>(reader.kind) &&
              reader.input_shapes[i] == draft.tensors[layer.output.index()].shape;
      }
    }
    if (!all) continue;
    for (DraftLayer& reader : draft.layers) {
      if (reader.inputs.empty() || reader.inputs.front() != layer.output) continue;
      Padding& padding = std::get<Conv>(reader.kind).padding;
      padding = {Extent{padding.begin.h + more.begin.h, padding.begin.w + more.begin.w},
                 Extent{padding.end.h + more.end.h, padding.end.w + more.end.w}};
      reader.inputs.front() = layer.inputs.front();
      reader.input_shapes.front() = layer.input_shapes.front();
    }
  }
  drop_unused(draft);
}

namespace {

/// A Mul of a value and a function of the same value, read in the same shape.
void recognise_gates(Draft& draft) {
  for (DraftLayer& layer : draft.layers) {
    const auto* product = std::get_if<Binary>(&layer.kind);
    if (product == nullptr || product->function != Binary::Function::kMul || product->constant) {
      continue;
    }
    const Readers readers(draft);
    for (const std::size_t gate : {std::size_t{0}, std::size_t{1}}) {
      const DraftId x = layer.inputs[1 - gate];
      const DraftLayer* made = readers.producer(layer.inputs[gate]);
      const auto* function = made ? std::get_if<Unary>(&made->kind) : nullptr;
      if (function == nullptr || made->inputs.front() != x) continue;
      const bool alike = layer.input_shapes[0] == layer.input_shapes[1] &&
                         made->input_shapes.front().elements() == layer.input_shapes[0].elements();
      const bool silu = function->function == Unary::Function::kSigmoid;
      const bool swish = function->function == Unary::Function::kHardSigmoid &&
                         std::fabs(function->alpha - 1.0f / 6) < 1e-6f && function->beta == 0.5f;
      if (!alike || (!silu && !swish)) continue;
      layer.kind = Unary{silu ? Unary::Function::kSilu : Unary::Function::kHardSwish, 0, 0};
      layer.inputs = {x};
      layer.input_shapes = {layer.input_shapes[0]};
      break;
    }
  }
  drop_unused(draft);
}

}  // namespace

void recognise_functions(Draft& draft) { recognise_gates(draft); }

void simplify(Draft& draft) {
  drop_unused(draft);
  fold_affine(draft);
  fold_padding(draft);
  recognise_functions(draft);
}

}  // namespace hios::onnx
