#include "hios/model/layer_types.h"

#include <algorithm>

#include "hios/model/layer_fields.h"

namespace hios {

const std::vector<std::string_view>& layer_types() {
  static const std::vector<std::string_view> types = [] {
    std::vector<std::string_view> all = {
        "AveragePool", "Concat", "Conv",    "ConvTranspose", "Gather",        "GlobalAveragePool",
        "LRN",         "MatMul", "MaxPool", "Move",          "Normalization", "Pad",
        "Relu",        "Resize", "Softmax", "Sum",           "TopK"};
    const auto add = [&all](const auto& names) {
      all.insert(all.end(), names.begin(), names.end());
    };
    add(Names<Unary::Function>::kAll);
    add(Names<Binary::Function>::kAll);
    add(Names<Reduce::Function>::kAll);
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
  }();
  return types;
}

}  // namespace hios
