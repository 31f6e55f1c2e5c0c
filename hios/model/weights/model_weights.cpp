#include "hios/model/weights/model_weights.h"

#include <algorithm>
#include <string_view>

#include "hios/base/digest.h"

namespace hios {

Bytes ModelWeights::size_bytes() const {
  Bytes sum = 0;
  for (const auto& [name, values] : by_layer_)
    sum += (values.weights.size() + values.bias.size()) * sizeof(float);
  return sum;
}

std::string ModelWeights::digest() const {
  std::vector<std::string_view> names;
  for (const auto& [name, values] : by_layer_) names.push_back(name);
  std::sort(names.begin(), names.end());
  Digest digest;
  const auto add = [&](const std::vector<float>& values) {
    digest.add(std::string_view(reinterpret_cast<const char*>(values.data()),
                                values.size() * sizeof(float)));
  };
  for (const std::string_view name : names) {
    const Values& values = by_layer_.at(std::string(name));
    digest.add(name);
    add(values.weights);
    add(values.bias);
  }
  return digest.hex();
}

}  // namespace hios
