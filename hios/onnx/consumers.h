#pragma once

#include <algorithm>
#include <vector>

#include "hios/onnx/draft.h"

/// What passes ask of a draft.
namespace hios::onnx {

/// Who reads what, as a pass finds it. Refers to the draft; what the pass changes is not seen, but
/// for what it tells by takes_over().
class Consumers {
 public:
  explicit Consumers(const Draft& draft)
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
  /// True if nothing but these layers and `root` reads what these layers make: `root` can do the
  /// work of all of them.
  bool are_only_for(const std::vector<const DraftLayer*>& inside, const DraftLayer& root) const {
    return std::ranges::all_of(inside, [&](const DraftLayer* layer) {
      const auto belongs = [&](std::size_t consumer) {
        const DraftLayer* by = &draft_.layers[consumer];
        return by == &root || std::ranges::find(inside, by) != inside.end();
      };
      return !is_output(layer->output) && std::ranges::all_of(of(layer->output), belongs);
    });
  }
  /// Layer `now` reads the tensor in the place of `before`.
  void takes_over(DraftId tensor, std::size_t before, std::size_t now) {
    std::ranges::replace(of_[tensor.index()], before, now);
  }

 private:
  const Draft& draft_;
  std::vector<std::vector<std::size_t>> of_;
  std::vector<bool> wanted_;
};

/// The number that a function combines with each value; empty: it has no constant, or a larger one.
inline std::optional<double> scalar_of(const DraftLayer& layer) {
  const auto* binary = std::get_if<Binary>(&layer.kind);
  if (binary == nullptr || !binary->constant || binary->constant->elements() != 1) return {};
  return double{layer.parameters.weights.front()};
}

}  // namespace hios::onnx
