#pragma once

#include <span>
#include <string>
#include <vector>

#include "hios/onnx/read/node.h"

namespace hios::onnx {

/// A tensor and the shape in which a layer reads it.
struct Placed {
  DraftId tensor;
  Shape shape;
};

/// Adds the layers of one node to the draft, moving values where an operator needs another order in
/// memory.
class LayerEmitter {
 public:
  LayerEmitter(Draft& draft, const Node& node) : draft_(draft), node_(node) {}
  const Node& node() const { return node_; }

  /// The view as memory of its own, its axes in this order: the base itself where it lies so.
  View dense(const View& view, std::span<const std::size_t> order);
  View dense(const View& view) { return dense(view, memory_order(view.rank())); }
  /// Read in this order of axes. Of more than four axes, inner neighbours are read as one.
  Placed place(const View& view, std::span<const std::size_t> order);
  /// Read as whatever its memory is: for what treats all values alike. `as` becomes the view with
  /// which the result (of the same shape) is to be seen.
  Placed place_anyhow(const View& view, View& as);
  /// (N, C, H, W) as an image; fails for other ranks.
  Placed image(const View& view);

  /// A layer whose output has these dims and lies in this order of axes.
  View emit(const LayerKind& kind, const std::vector<Placed>& inputs, const Dims& dims,
            std::span<const std::size_t> order, ModelWeights::Values parameters = {},
            bool affine = false);
  /// An output that lies like memory_order().
  View emit(const LayerKind& kind, const std::vector<Placed>& inputs, const Dims& dims,
            ModelWeights::Values parameters = {}) {
    return emit(kind, inputs, dims, memory_order(dims.size()), std::move(parameters));
  }
  /// For place_anyhow().
  View emit_like(const View& as, const LayerKind& kind, const Placed& input);

  [[noreturn]] void fail(const std::string& message) const { node_.fail(message); }

 private:
  DraftId add(const LayerKind& kind, const std::vector<Placed>& inputs,
              ModelWeights::Values parameters, bool affine);

  Draft& draft_;
  const Node& node_;
  bool named_ = false;  ///< a layer has the node's own name
};

/// What a node makes, one view an output that is wanted (others may be empty views).
using Views = std::vector<View>;
using Handler = Views (*)(LayerEmitter& emitter, const Node& node);

/// An operator of ONNX by its name; null: unknown here.
Handler find_handler(std::string_view op_type);
/// All of them, sorted.
std::vector<std::string> known_operators();

/// Values that follow from constants alone. Empty: this operator is none that is folded. Fails
/// where the result would be too large.
std::optional<Views> fold(const Node& node);

}  // namespace hios::onnx
