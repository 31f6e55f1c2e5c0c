#include "hios/model/model_json.h"

#include <nlohmann/json.hpp>
#include <span>
#include <unordered_map>
#include <utility>
#include <variant>

#include "hios/base/error.h"
#include "hios/model/layer_json.h"

namespace hios {
namespace {

using TensorsByName = std::unordered_map<std::string, TensorId>;

TensorId find_tensor(const JsonView& view, const TensorsByName& tensors) {
  const auto found = tensors.find(view.string());
  if (found != tensors.end()) return found->second;
  view.fail("no layer before this one is named '" + printable(view.string()) +
            "'; list a layer after those whose outputs it reads (\"input\" is the model's input)");
}

std::vector<TensorId> read_tensors(const JsonView& view, const TensorsByName& tensors) {
  std::vector<TensorId> result;
  for (const JsonView& element : view.array()) result.push_back(find_tensor(element, tensors));
  return result;
}

/// Returns true for an Add of two values of equal shape, which built models express as a Sum.
bool is_sum(const LayerKind& kind, std::span<const TensorId> inputs, std::span<const Shape> shapes,
            const ModelBuilder& builder) {
  const auto* binary = std::get_if<Binary>(&kind);
  if (binary == nullptr || *binary != Binary{Binary::Function::kAdd, {}, false}) return false;
  if (inputs.size() != 2) return false;
  return shapes.empty() ? builder.shape(inputs[0]) == builder.shape(inputs[1])
                        : shapes[0] == shapes[1];
}

void read_layer(const JsonView& view, ModelBuilder& builder, TensorsByName& tensors) {
  ObjectReader reader(view);
  std::string name = reader.required("name").string();
  const JsonView type = reader.required("type");
  LayerKind kind = read_kind(type, reader);
  std::vector<TensorId> inputs = read_tensors(reader.required("inputs"), tensors);
  std::vector<Shape> shapes;
  if (const auto list = reader.optional("input_shapes")) {
    for (const JsonView& shape : list->array()) shapes.push_back(read_shape(shape));
    if (shapes.size() != inputs.size()) list->fail("must hold a shape for each input");
  }
  const auto block = reader.optional("block");
  reader.finish();
  if (is_sum(kind, inputs, shapes, builder)) kind = Sum{};
  builder.begin_block(block ? block->string() : std::string());
  try {
    tensors.emplace(name, builder.add(name, kind, std::move(inputs), std::move(shapes)));
  } catch (const InputError& error) {
    view.fail(error.what());
  }
}

ModelBuilder open_model(const JsonView& where, std::string name, const Shape& input) {
  try {
    return ModelBuilder(std::move(name), input);
  } catch (const InputError& error) {
    where.fail(error.what());
  }
}

bool reads_as_made(const Layer& layer, const Model& model) {
  for (std::size_t i = 0; i < layer.inputs.size(); ++i) {
    if (layer.input_shapes[i] != model.tensor(layer.inputs[i]).shape) return false;
  }
  return true;
}

Json shape_list(const Shape& shape) { return {shape.n, shape.c, shape.h, shape.w}; }

Json to_json(const Layer& layer, const Model& model) {
  Json inputs = Json::array();
  for (const TensorId input : layer.inputs) inputs.push_back(model.tensor(input).name);
  Json json{{"name", layer.name}, {"type", onnx_type(layer.kind)}, {"inputs", std::move(inputs)}};
  if (!reads_as_made(layer, model)) {
    Json shapes = Json::array();
    for (const Shape& shape : layer.input_shapes) shapes.push_back(shape_list(shape));
    json["input_shapes"] = std::move(shapes);
  }
  write_kind(json, layer.kind);
  if (!layer.block.empty()) json["block"] = layer.block;
  return json;
}

}  // namespace

Json to_json(const Model& model) {
  Json layers = Json::array();
  for (const Layer& layer : model.layers()) layers.push_back(to_json(layer, model));
  Json outputs = Json::array();
  for (const TensorId output : model.outputs()) outputs.push_back(model.tensor(output).name);
  return {{"format", "hios-model"},
          {"version", kFormatVersion},
          {"name", model.name()},
          {"input", {{"shape", shape_list(model.tensor(model.input()).shape)}}},
          {"layers", std::move(layers)},
          {"outputs", std::move(outputs)},
          {"keep_names", model.keeps_layer_names()}};
}

Model model_from_json(const JsonView& root, std::optional<std::int64_t> batch,
                      std::optional<std::int64_t> height, std::optional<std::int64_t> width) {
  ObjectReader reader = open_format(root, "hios-model");
  std::string name = reader.required("name").string();
  ObjectReader input(reader.required("input"));
  const Shape shape = read_shape(input.required("shape"));
  input.finish();
  const JsonView layers = reader.required("layers");
  const auto outputs = reader.optional("outputs");
  const auto keep_names = reader.optional("keep_names");
  reader.finish();

  ModelBuilder builder = open_model(
      input.view(), std::move(name),
      {batch.value_or(shape.n), shape.c, height.value_or(shape.h), width.value_or(shape.w)});
  if (keep_names && keep_names->boolean()) builder.keep_layer_names();
  TensorsByName tensors{{"input", builder.input()}};
  for (const JsonView& layer : layers.array()) read_layer(layer, builder, tensors);
  if (tensors.size() == 1) layers.fail("needs at least one layer");
  if (outputs && outputs->array().empty()) outputs->fail("needs at least one output");
  return std::move(builder).build(outputs ? read_tensors(*outputs, tensors)
                                          : std::vector<TensorId>());
}

}  // namespace hios
