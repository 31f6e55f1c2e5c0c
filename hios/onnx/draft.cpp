#include "hios/onnx/draft.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "hios/model/infer_shape.h"

namespace hios::onnx {

std::string Draft::unique(const std::string& wanted) {
  std::string result = wanted == "input" ? "input_1" : wanted;
  const std::string base = result;
  while (!names.emplace(result, 1).second) result = base + "_" + std::to_string(++names[base]);
  return result;
}

std::optional<std::size_t> Draft::input_of(const View& view) const {
  if (view.is_constant() || inputs.empty()) return {};
  DraftId tensor = view.tensor();
  std::int64_t offset = view.offset;
  while (tensor != DraftId(0)) {
    const auto producer = tensors[tensor.index()].producer;
    const Move* const move = producer ? std::get_if<Move>(&layers[*producer].kind) : nullptr;
    if (move == nullptr) return {};
    offset = move->offset;
    tensor = layers[*producer].inputs.front();
  }
  const std::vector<InputPlace> places = places_of(inputs);
  const std::int64_t at = offset % places.front().stride;
  std::size_t i = 0;
  while (i + 1 < places.size() && places[i + 1].offset <= at) ++i;
  return i;
}

bool Draft::is_whole(const View& view) const {
  const auto input = input_of(view);
  return input && inputs[*input].below > 0;
}

void Draft::look_up(const View& indices, std::int64_t positions) {
  const auto of = input_of(indices);
  if (!of || inputs[*of].below == 0) return;
  const std::size_t i = *of;
  NamedInput& input = inputs[i];
  const InputPlace place = places_of(inputs)[i];
  looked_up_in_part.resize(inputs.size());
  const bool first = !input.is_index && !looked_up_in_part[i];
  input.below = first ? positions : std::min(input.below, positions);
  if (elements(indices.dims) != place.rows * place.count) looked_up_in_part[i] = true;
  input.is_index = !looked_up_in_part[i];
}

DraftId Draft::add(DraftLayer layer) {
  layer.output = DraftId(tensors.size());
  tensors.push_back({infer_shape(layer.kind, layer.input_shapes), layers.size()});
  layers.push_back(std::move(layer));
  return layers.back().output;
}

}  // namespace hios::onnx
