#include "hios/onnx/passes.h"

#include <algorithm>
#include <cmath>

namespace hios::onnx {
namespace {

/// Who reads what, as a pass finds it.
class Readers {
 public:
  explicit Readers(const Draft& draft)
      : draft_(draft), of_(draft.tensors.size()), wanted_(of_.size()) {
    for (std::size_t i = 0; i < draft.layers.size(); ++i) {
      for (const DraftId input : draft.layers[i].inputs) of_[input.index()].push_back(i);
    }
    for (const DraftOutput& output : draft.outputs) wanted_[output.tensor.index()] = true;
  }
  /// Layers, with multiplicity.
  const std::vector<std::size_t>& of(DraftId tensor) const { return of_[tensor.index()]; }
  bool is_output(DraftId tensor) const { return wanted_[tensor.index()]; }
  /// True if just one layer reads it, once, and it is no output.
  bool is_only_for_one(DraftId tensor) const {
    return of(tensor).size() == 1 && !is_output(tensor);
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

/// Tensors in the place of others, carried out at the end of a pass.
class Replacements {
 public:
  explicit Replacements(Draft& draft) : draft_(draft) {
    for (std::size_t i = 0; i < draft.tensors.size(); ++i) instead_.emplace_back(i);
  }
  DraftId of(DraftId tensor) const { return instead_[tensor.index()]; }
  /// REQUIRES: nothing replaces `instead`, and `old` stands behind it.
  void replace(DraftId old, DraftId instead) { instead_[old.index()] = instead; }
  void carry_out() {
    for (DraftLayer& layer : draft_.layers) {
      for (DraftId& input : layer.inputs) input = of(input);
    }
    for (DraftOutput& output : draft_.outputs) output.tensor = of(output.tensor);
  }

 private:
  Draft& draft_;
  std::vector<DraftId> instead_;
};

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
  const Readers readers(draft);
  Replacements replacements(draft);
  for (DraftLayer& layer : draft.layers) {
    if (!layer.affine || !readers.is_only_for_one(layer.inputs.front())) continue;
    const DraftId made = replacements.of(layer.inputs.front());
    const auto producer = draft.tensors[made.index()].producer;
    if (!producer) continue;
    DraftLayer& front = draft.layers[*producer];
    auto* conv = std::get_if<Conv>(&front.kind);
    const bool as_made = draft.tensors[made.index()].shape == layer.input_shapes.front();
    if (conv == nullptr || !as_made) continue;
    scale_conv(front, conv->bias, conv->out_channels, layer);
    replacements.replace(layer.output, made);
  }
  replacements.carry_out();
  drop_unused(draft);
}

void fold_padding(Draft& draft) {
  const Readers readers(draft);
  for (DraftLayer& layer : draft.layers) {
    const auto* pad = std::get_if<Pad>(&layer.kind);
    if (pad == nullptr || pad->mode != Pad::Mode::kConstant || pad->value != 0) continue;
    if (pad->begin.n + pad->begin.c + pad->end.n + pad->end.c != 0) continue;
    if (readers.is_output(layer.output)) continue;
    const Shape& made = draft.tensors[layer.output.index()].shape;
    const bool all = std::ranges::all_of(readers.of(layer.output), [&](std::size_t i) {
      const DraftLayer& reader = draft.layers[i];
      return std::holds_alternative<Conv>(reader.kind) && reader.input_shapes.front() == made;
    });
    if (!all) continue;
    for (const std::size_t i : readers.of(layer.output)) {
      DraftLayer& reader = draft.layers[i];
      Padding& padding = std::get<Conv>(reader.kind).padding;
      padding = {Extent{padding.begin.h + pad->begin.h, padding.begin.w + pad->begin.w},
                 Extent{padding.end.h + pad->end.h, padding.end.w + pad->end.w}};
      reader.inputs.front() = layer.inputs.front();
      reader.input_shapes.front() = layer.input_shapes.front();
    }
  }
  drop_unused(draft);
}

namespace {

/// A Mul of a value and a function of the same value, read in the same shape.
void recognise_gates(Draft& draft) {
  const Readers readers(draft);
  for (DraftLayer& layer : draft.layers) {
    const auto* product = std::get_if<Binary>(&layer.kind);
    if (product == nullptr || product->function != Binary::Function::kMul || product->constant) {
      continue;
    }
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
