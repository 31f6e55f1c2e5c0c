#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "hios/base/ids.h"

namespace hios {

/// The weights of a model from a file, by the names of its layers. Immutable once part of a Model,
/// except by Model::forget_weights(); any thread may read it.
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
  /// Frees a layer's values, for good.
  void forget(const std::string& layer) { by_layer_.erase(layer); }
  /// Returns the bytes of all values that are held.
  Bytes size_bytes() const;
  /// Returns a digest of all values, by which ranks compare theirs. Reads all of them.
  std::string digest() const;

 private:
  std::unordered_map<std::string, Values> by_layer_;
};

}  // namespace hios
