#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace hios {

/// The weights of a model from a file, by the names of its layers. Immutable once part of a Model;
/// any thread may read it.
class ModelWeights {
 public:
  /// A layer's values: parameter_counts() has their numbers, TensorSource their order.
  struct Values {
    std::vector<float> weights;
    std::vector<float> bias;
  };

  void set(const std::string& layer, Values values) { by_layer_[layer] = std::move(values); }
  /// Returns a layer's values; null: it has none.
  const Values* find(const std::string& layer) const {
    const auto found = by_layer_.find(layer);
    return found == by_layer_.end() ? nullptr : &found->second;
  }
  /// Returns a digest of all values, by which ranks compare theirs. Reads all of them.
  std::string digest() const;

 private:
  std::unordered_map<std::string, Values> by_layer_;
};

}  // namespace hios
