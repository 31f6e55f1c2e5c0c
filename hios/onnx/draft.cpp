#include "hios/onnx/draft.h"

#include <utility>

#include "hios/model/infer_shape.h"

namespace hios::onnx {

std::string Draft::unique(const std::string& wanted) {
  std::string result = wanted == "input" ? "input_1" : wanted;
  const std::string base = result;
  while (!names.emplace(result, 1).second) result = base + "_" + std::to_string(++names[base]);
  return result;
}

DraftId Draft::add(DraftLayer layer) {
  layer.output = DraftId(tensors.size());
  tensors.push_back({infer_shape(layer.kind, layer.input_shapes), layers.size()});
  layers.push_back(std::move(layer));
  return layers.back().output;
}

}  // namespace hios::onnx
