// Part of hios/model/model.h: `hios-model` versions 1 and 2, to and from JSON.

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "hios/base/error.h"
#include "hios/model/layer_json.h"
#include "hios/model/model.h"

namespace hios {
namespace {

using TensorsByName = std::unordered_map<std::string, TensorId>;

TensorId find_tensor(const JsonView& view, const TensorsByName& tensors) {
  const auto found = tensors.find(view.string());
  if (found != tensors.end()) return found->second;
  view.fail("no layer before this one is named '" + printable(view.string()) +
            "'; layers stand after what they read, and \"input\" is the model's input");
}

std::vector<TensorId> read_tensors(const JsonView& view, const TensorsByName& tensors) {
  std::vector<TensorId> result;
  for (const JsonView& element : view.array()) result.push_back(find_tensor(element, tensors));
  return result;
}

void read_layer(const JsonView& view, int version, ModelBuilder& builder, TensorsByName& tensors) {
  ObjectReader reader(view);
  std::string name = reader.required("name").string();
  const JsonView type = reader.required("type");
  const LayerKind kind = read_kind(type, reader, version);
  std::vector<TensorId> inputs = read_tensors(reader.required("inputs"), tensors);
  std::vector<Shape> shapes;
  if (version > 1) {
    if (const auto list = reader.optional("input_shapes")) {
      for (const JsonView& shape : list->array()) shapes.push_back(read_shape(shape));
      if (shapes.size() != inputs.size()) list->fail("must hold a shape for each input");
    }
  }
  const bool add = type.string() == "Add" && version == 1;
  if (add && inputs.size() != 2) type.fail("Add takes two inputs; use Sum");
  const auto block = reader.optional("block");
  reader.finish();
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

/// The lowest version of the format that can say this.
int version_for(const Model& model) {
  if (model.keeps_layer_names()) return 2;
  for (const TensorId output : model.outputs()) {
    if (!model.consumers(output).empty()) return 2;
  }
  const auto needs_two = [&](const Layer& layer) {
    return version_for(layer.kind) > 1 || !reads_as_made(layer, model);
  };
  return std::ranges::any_of(model.layers(), needs_two) ? 2 : 1;
}

}  // namespace

Json to_json(const Model& model) {
  const int version = version_for(model);
  Json layers = Json::array();
  for (const Layer& layer : model.layers()) layers.push_back(to_json(layer, model));
  Json json{{"format", "hios-model"},
            {"version", version},
            {"name", model.name()},
            {"input", {{"shape", shape_list(model.tensor(model.input()).shape)}}},
            {"layers", std::move(layers)}};
  if (version == 1) return json;
  Json outputs = Json::array();
  for (const TensorId output : model.outputs()) outputs.push_back(model.tensor(output).name);
  json["outputs"] = std::move(outputs);
  json["keep_names"] = model.keeps_layer_names();
  return json;
}

Model model_from_json(const JsonView& root, std::optional<std::int64_t> batch,
                      std::optional<std::int64_t> height, std::optional<std::int64_t> width) {
  const auto [version, opened] = open_format(root, "hios-model", 1, 2);
  ObjectReader reader = opened;
  std::string name = reader.required("name").string();
  ObjectReader input(reader.required("input"));
  const Shape shape = read_shape(input.required("shape"));
  input.finish();
  const JsonView layers = reader.required("layers");
  std::optional<JsonView> outputs, keep_names;
  if (version > 1) {
    outputs = reader.optional("outputs");
    keep_names = reader.optional("keep_names");
  }
  reader.finish();

  ModelBuilder builder = open_model(
      input.view(), std::move(name),
      {batch.value_or(shape.n), shape.c, height.value_or(shape.h), width.value_or(shape.w)});
  if (version > 1 && (!keep_names || keep_names->boolean())) builder.keep_layer_names();
  TensorsByName tensors{{"input", builder.input()}};
  for (const JsonView& layer : layers.array()) read_layer(layer, version, builder, tensors);
  if (tensors.size() == 1) layers.fail("needs at least one layer");
  if (outputs && outputs->array().empty()) outputs->fail("needs at least one output");
  return std::move(builder).build(outputs ? read_tensors(*outputs, tensors)
                                          : std::vector<TensorId>());
}

}  // namespace hios
