#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace hios {

/// The weights that a model brings along, by the names of its layers. Immutable once it is part of
/// a Model; any thread may read it.
class ModelWeights {
 public:
  /// As many values as parameter_counts() says, ordered as TensorSource says.
  struct Values {
    std::vector<float> weights;
    std::vector<float> bias;
  };

  void set(const std::string& layer, Values values) { by_layer_[layer] = std::move(values); }
  /// Null: the layer has none.
  const Values* find(const std::string& layer) const {
    const auto found = by_layer_.find(layer);
    return found == by_layer_.end() ? nullptr : &found->second;
  }
  /// Of all values, so that ranks can tell whether they have the same. Reads all of them.
  std::string digest() const;

 private:
  std::unordered_map<std::string, Values> by_layer_;
};

}  // namespace hios
