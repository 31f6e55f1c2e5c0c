#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "hios/onnx/operators/node.h"

namespace hios::onnx {

/// An input of a layer: a tensor, and the shape in which the layer reads it.
struct LayerInput {
  DraftId tensor;
  Shape shape;
};

/// Adds the layers of one node to the draft. Adds a Move wherever a layer needs values in another
/// order in memory.
class LayerEmitter {
 public:
  /// Values of the draft's tensors that are constants, by DraftId.
  using Values = std::vector<std::vector<float>>;

  /// `constants`: null where layers cannot read constants, as they cannot in a model. Otherwise a
  /// tensor is added for each constant that a layer reads (constants/compute.h).
  LayerEmitter(Draft& draft, const Node& node, Values* constants = nullptr)
      : draft_(draft), node_(node), constants_(constants) {}
  /// `last_uses`: constants that nothing reads after this node.
  LayerEmitter(Draft& draft, const Node& node, std::vector<const Constant*> last_uses)
      : draft_(draft), node_(node), constants_(nullptr), last_uses_(std::move(last_uses)) {}
  const Node& node() const { return node_; }

  /// Returns the view as a whole base whose axes lie in this order: the view itself if it is one,
  /// else the output of a Move (or a new constant).
  View dense(const View& view, std::span<const std::size_t> order);
  View dense(const View& view) { return dense(view, memory_order(view.rank())); }
  /// Returns the view; if it is a constant, a tensor that holds it. Fails where constants cannot be
  /// tensors.
  View as_tensor(const View& view);
  /// Returns what floats_of() does. If this is the constant's last use and the view is all of it,
  /// in its order, these are its own values, so that large weights are not held twice. REQUIRES:
  /// the node reads them once.
  std::vector<float> take_floats(const View& view);
  /// Returns an input that reads the view in this order of axes. Of more than four axes, the inner
  /// ones between the first and the last two are read as one.
  LayerInput input(const View& view, std::span<const std::size_t> order);
  /// Returns an input that reads the view's base as it is, for layers that treat all values alike.
  /// `read` becomes the view of the base by which emit_like() sees the output.
  LayerInput input_in_any_order(const View& view, View& read);
  /// Returns an input that reads (N, C, H, W) as an image. Fails for other ranks.
  LayerInput image(const View& view);

  /// Adds a layer whose output has these dims and lies in this order of axes.
  View emit(const LayerKind& kind, const std::vector<LayerInput>& inputs, const Dims& dims,
            std::span<const std::size_t> order, ModelWeights::Values parameters = {},
            bool affine = false);
  /// Adds a layer whose output lies in memory_order().
  View emit(const LayerKind& kind, const std::vector<LayerInput>& inputs, const Dims& dims,
            ModelWeights::Values parameters = {}) {
    return emit(kind, inputs, dims, memory_order(dims.size()), std::move(parameters));
  }
  /// Adds a layer that treats all values alike. `read` and `input`: of input_in_any_order().
  View emit_like(const View& read, const LayerKind& kind, const LayerInput& input);

  /// Records that the node looks indices up among so many positions (Draft::look_up).
  void look_up(const View& indices, std::int64_t positions) { draft_.look_up(indices, positions); }

  /// Returns true for values of an input of integers or truth values (Draft::is_whole).
  bool is_whole(const View& view) const { return draft_.is_whole(view); }

  [[noreturn]] void fail(const std::string& message) const { node_.fail(message); }

 private:
  DraftId add(const LayerKind& kind, const std::vector<LayerInput>& inputs,
              ModelWeights::Values parameters, bool affine);

  Draft& draft_;
  const Node& node_;
  Values* constants_;
  std::vector<const Constant*> last_uses_;
  bool named_ = false;  ///< a layer has the node's own name
};

}  // namespace hios::onnx
