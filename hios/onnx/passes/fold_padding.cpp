// Part of hios/onnx/passes/passes.h: a Pad around images becomes padding of the windows that read
// them. Those of convolutions are zeros. Averages count them, as they count the values of the
// image. A maximum ignores its padding: right where the values added cannot win, -inf, or zeros
// beside values of which none is negative; and where each window has a value of the image.
#include <cmath>
#include <limits>

#include "hios/base/error.h"
#include "hios/onnx/consumers.h"
#include "hios/onnx/passes/passes.h"

namespace hios::onnx {
namespace {

Padding together(const Padding& a, const Padding& b) {
  return {Extent{a.begin.h + b.begin.h, a.begin.w + b.begin.w},
          Extent{a.end.h + b.end.h, a.end.w + b.end.w}};
}

/// True if no value that the layer makes is below zero.
bool makes_no_negatives(const DraftLayer* layer) {
  if (layer == nullptr) return false;
  if (std::holds_alternative<Relu>(layer->kind)) return true;
  const auto* unary = std::get_if<Unary>(&layer->kind);
  if (unary == nullptr) return false;
  using F = Unary::Function;
  switch (unary->function) {
    case F::kClip:
      return unary->alpha >= 0 && unary->alpha <= unary->beta;
    case F::kAbs:
    case F::kExp:
    case F::kHardSigmoid:
    case F::kSigmoid:
    case F::kSoftplus:
    case F::kSqrt:
      return true;
    default:
      return false;
  }
}

/// What a pad adds, seen by those that read the image.
struct Added {
  Padding padding;
  float value = 0;
  bool beside_no_negatives = false;
  Shape shape;  ///< of what is padded
};

/// The same layer reading what is not padded; empty: there is none.
std::optional<LayerKind> takes(const Added& added, Conv conv) {
  if (added.value != 0) return {};
  conv.padding = together(conv.padding, added.padding);
  return conv;
}

std::optional<LayerKind> takes(const Added& added, Pool pool) {
  const bool lowest = added.value <= std::numeric_limits<float>::lowest();
  if (pool.kind == Pool::Kind::kMax) {
    // Taps that are not neighbours might all miss the image.
    if (pool.dilation != Extent{}) return {};
    if (!lowest && !(added.value == 0 && added.beside_no_negatives)) return {};
  } else {
    if (added.value != 0) return {};
    if (pool.padding != Padding{} && !pool.count_padding) return {};  // some count, some do not
    pool.count_padding = true;
  }
  pool.padding = together(pool.padding, added.padding);
  return pool;
}

template <class Layer>
std::optional<LayerKind> takes(const Added&, const Layer&) {
  return {};
}

/// The consumer's kind with the padding in it, if it makes the same.
std::optional<LayerKind> with_padding(const Draft& draft, const DraftLayer& consumer,
                                      const Added& added) {
  const auto kind =
      std::visit([&](const auto& layer) { return takes(added, layer); }, consumer.kind);
  if (!kind) return {};
  try {  // a window wholly in the padding is refused; one that is left out makes another shape
    const Shape made = infer_shape(*kind, {&added.shape, 1});
    if (made != draft.tensors[consumer.output.index()].shape) return {};
  } catch (const InputError&) {
    return {};
  }
  return kind;
}

}  // namespace

void fold_padding(Draft& draft) {
  const Consumers consumers(draft);
  for (DraftLayer& layer : draft.layers) {
    const auto* pad = std::get_if<Pad>(&layer.kind);
    if (pad == nullptr || pad->mode != Pad::Mode::kConstant) continue;
    if (pad->begin.n + pad->begin.c + pad->end.n + pad->end.c != 0) continue;
    if (consumers.is_output(layer.output)) continue;
    const Added added{{Extent{pad->begin.h, pad->begin.w}, Extent{pad->end.h, pad->end.w}},
                      pad->value,
                      makes_no_negatives(consumers.producer(layer.inputs.front())),
                      layer.input_shapes.front()};
    const Shape& made = draft.tensors[layer.output.index()].shape;
    std::vector<LayerKind> kinds;
    for (const std::size_t i : consumers.of(layer.output)) {
      const DraftLayer& consumer = draft.layers[i];
      if (consumer.input_shapes.front() != made) break;
      auto kind = with_padding(draft, consumer, added);
      if (!kind) break;
      kinds.push_back(*std::move(kind));
    }
    if (kinds.size() != consumers.of(layer.output).size()) continue;
    for (std::size_t k = 0; k < kinds.size(); ++k) {
      DraftLayer& consumer = draft.layers[consumers.of(layer.output)[k]];
      consumer.kind = std::move(kinds[k]);
      consumer.inputs.front() = layer.inputs.front();
      consumer.input_shapes.front() = layer.input_shapes.front();
    }
  }
  drop_unused(draft);
}

}  // namespace hios::onnx
