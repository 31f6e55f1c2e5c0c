#include "hios/onnx/draft.h"

#include <algorithm>
#include <utility>

#include "hios/model/infer_shape.h"

namespace hios::onnx {

std::string Draft::unique(const std::string& wanted) {
  std::string result = wanted == "input" ? "input_1" : wanted;
  const std::string base = result;
  while (!names.emplace(result, 1).second) result = base + "_" + std::to_string(++names[base]);
  return result;
}

void Draft::look_up(const View& indices, std::int64_t positions) {
  if (indices.is_constant() || indices.tensor() != DraftId(0) || inputs.empty()) return;
  const std::vector<InputPlace> places = places_of(inputs);
  const std::int64_t at = indices.offset % places.front().stride;
  std::size_t i = 0;
  while (i + 1 < places.size() && places[i + 1].offset <= at) ++i;
  NamedInput& input = inputs[i];
  if (input.below == 0) return;
  input.below = input.is_index ? std::min(input.below, positions) : positions;
  input.is_index = true;
}

DraftId Draft::add(DraftLayer layer) {
  layer.output = DraftId(tensors.size());
  tensors.push_back({infer_shape(layer.kind, layer.input_shapes), layers.size()});
  layers.push_back(std::move(layer));
  return layers.back().output;
}

}  // namespace hios::onnx
