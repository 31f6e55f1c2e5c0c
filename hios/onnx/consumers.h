#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "hios/onnx/draft.h"

/// Queries of passes on a draft.
namespace hios::onnx {

/// The producer and the consumers of each tensor at the start of a pass. Refers to the draft, and
/// sees changes of its inputs only where take_over() reports them.
class Consumers {
 public:
  explicit Consumers(const Draft& draft)
      : draft_(draft), consumers_(draft.tensors.size()), is_output_(consumers_.size()) {
    for (std::size_t i = 0; i < draft.layers.size(); ++i) {
      for (const DraftId input : draft.layers[i].inputs) consumers_[input.index()].push_back(i);
    }
    for (const DraftOutput& output : draft.outputs) is_output_[output.tensor.index()] = true;
  }
  /// Returns the layers that read a tensor, each as often as it reads it.
  const std::vector<std::size_t>& of(DraftId tensor) const { return consumers_[tensor.index()]; }
  bool is_output(DraftId tensor) const { return is_output_[tensor.index()]; }
  /// Returns true if exactly one layer reads the tensor, once, and it is no output.
  bool has_one(DraftId tensor) const { return of(tensor).size() == 1 && !is_output(tensor); }
  /// Returns the layer that computes a tensor; null for the model's input.
  const DraftLayer* producer(DraftId tensor) const {
    const auto& producer = draft_.tensors[tensor.index()].producer;
    return producer ? &draft_.layers[*producer] : nullptr;
  }
  /// Returns true if only these layers and `root` read the tensors that these layers compute, so
  /// that `root` can replace them all.
  bool can_replace(const std::vector<const DraftLayer*>& inside, const DraftLayer& root) const {
    return std::ranges::all_of(inside, [&](const DraftLayer* layer) {
      const auto belongs = [&](std::size_t consumer) {
        const DraftLayer* by = &draft_.layers[consumer];
        return by == &root || std::ranges::find(inside, by) != inside.end();
      };
      return !is_output(layer->output) && std::ranges::all_of(of(layer->output), belongs);
    });
  }
  /// Records that layer `now` reads the tensor instead of layer `before`.
  void take_over(DraftId tensor, std::size_t before, std::size_t now) {
    std::ranges::replace(consumers_[tensor.index()], before, now);
  }

 private:
  const Draft& draft_;
  std::vector<std::vector<std::size_t>> consumers_;  ///< by tensor
  std::vector<bool> is_output_;                      ///< by tensor
};

/// Returns the number that a binary layer combines with each value; empty if it has no constant, or
/// one of several values.
inline std::optional<double> scalar_of(const DraftLayer& layer) {
  const auto* binary = std::get_if<Binary>(&layer.kind);
  if (binary == nullptr || !binary->constant || binary->constant->elements() != 1) return {};
  return double{layer.parameters.weights.front()};
}

}  // namespace hios::onnx
