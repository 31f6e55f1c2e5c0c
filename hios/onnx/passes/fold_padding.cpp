// Part of hios/onnx/passes/passes.h: folds a Pad around images into the padding of the windows that
// read them. The padding of convolutions is zeros. Averages count the zeros as they count the
// values of the image. A maximum ignores its padding, which is right if the padded values cannot
// win (-inf, or zeros where no value is negative) and if each window has a value of the image.
#include <cmath>
#include <limits>

#include "hios/base/error.h"
#include "hios/model/infer_shape.h"
#include "hios/onnx/consumers.h"
#include "hios/onnx/passes/passes.h"

namespace hios::onnx {
namespace {

Padding sum(const Padding& a, const Padding& b) {
  return {Extent{a.begin.h + b.begin.h, a.begin.w + b.begin.w},
          Extent{a.end.h + b.end.h, a.end.w + b.end.w}};
}

/// Returns true if no output of the layer is negative.
bool is_never_negative(const DraftLayer* layer) {
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

/// A Pad, as its consumers see it.
struct Added {
  Padding padding;
  float value = 0;
  bool image_is_never_negative = false;
  Shape shape;  ///< the image's shape before the Pad
};

/// Returns the layer that computes the same from the image before the Pad; empty if there is none.
std::optional<LayerKind> padded(const Added& added, Conv conv) {
  if (added.value != 0) return {};
  conv.padding = sum(conv.padding, added.padding);
  return conv;
}

std::optional<LayerKind> padded(const Added& added, Pool pool) {
  const bool lowest = added.value <= std::numeric_limits<float>::lowest();
  if (pool.kind == Pool::Kind::kMax) {
    // The taps of a dilated window might all miss the image.
    if (pool.dilation != Extent{}) return {};
    if (!lowest && !(added.value == 0 && added.image_is_never_negative)) return {};
  } else {
    if (added.value != 0) return {};
    if (pool.padding != Padding{} && !pool.count_padding)
      return {};  // it would have to count only some
    pool.count_padding = true;
  }
  pool.padding = sum(pool.padding, added.padding);
  return pool;
}

template <class Layer>
std::optional<LayerKind> padded(const Added&, const Layer&) {
  return {};
}

/// Returns the consumer's kind with the padding folded in; empty if that computes something else.
std::optional<LayerKind> with_padding(const Draft& draft, const DraftLayer& consumer,
                                      const Added& added) {
  const auto kind =
      std::visit([&](const auto& layer) { return padded(added, layer); }, consumer.kind);
  if (!kind) return {};
  try {  // infer_shape refuses a window that lies in the padding; a window less changes the shape
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
                      is_never_negative(consumers.producer(layer.inputs.front())),
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
