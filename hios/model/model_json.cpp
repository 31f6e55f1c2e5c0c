// Part of hios/model/model.h: `hios-model` version 1, to and from JSON, with ONNX operator types
// and attribute names; what ONNX keeps in the shapes of a Conv's weights (output channels, whether
// there is a bias) is said outright.

#include <limits>
#include <unordered_map>
#include <utility>

#include "hios/base/error.h"
#include "hios/model/model.h"

namespace hios {
namespace {

using TensorsByName = std::unordered_map<std::string, TensorId>;

std::vector<std::int64_t> read_integers(const JsonView& view, std::size_t count,
                                        std::int64_t least) {
  std::vector<std::int64_t> values;
  for (const JsonView& element : view.array()) values.push_back(element.integer(least, kMaxExtent));
  if (values.size() != count) {
    view.fail("must hold " + std::to_string(count) + " numbers, not " +
              std::to_string(values.size()));
  }
  return values;
}

Extent read_extent(const JsonView& view) {
  const auto values = read_integers(view, 2, 1);
  return {values[0], values[1]};
}

/// ONNX order: top, left, bottom, right.
Extent read_pads(const JsonView& view) {
  const auto values = read_integers(view, 4, 0);
  if (values[0] != values[2] || values[1] != values[3]) {
    view.fail("padding must be the same before and after");
  }
  return {values[0], values[1]};
}

/// What Conv and the pools have in common.
template <class Windowed>
void read_window(ObjectReader& reader, Windowed& layer) {
  layer.kernel = read_extent(reader.required("kernel_shape"));
  layer.stride = {1, 1};
  layer.padding = {0, 0};
  if (const auto strides = reader.optional("strides")) layer.stride = read_extent(*strides);
  if (const auto pads = reader.optional("pads")) layer.padding = read_pads(*pads);
}

Conv read_conv(ObjectReader& reader) {
  Conv conv;
  conv.out_channels = reader.required("out_channels").integer(1, kMaxExtent);
  read_window(reader, conv);
  if (const auto group = reader.optional("group")) conv.groups = group->integer(1, kMaxExtent);
  if (const auto bias = reader.optional("bias")) conv.bias = bias->boolean();
  return conv;
}

Pool read_pool(ObjectReader& reader, Pool::Kind kind) {
  Pool pool;
  pool.kind = kind;
  read_window(reader, pool);
  return pool;
}

LayerKind read_kind(const JsonView& type_view, ObjectReader& reader) {
  const std::string type = type_view.string();
  if (type == "Conv") return read_conv(reader);
  if (type == "MaxPool") return read_pool(reader, Pool::Kind::kMax);
  if (type == "AveragePool") return read_pool(reader, Pool::Kind::kAverage);
  if (type == "GlobalAveragePool") return GlobalAveragePool{};
  if (type == "Relu") return Relu{};
  if (type == "Sum" || type == "Add") return Sum{};
  if (type == "Concat") return Concat{};
  type_view.fail("'" + printable(type) +
                 "' is unknown; known are Conv, MaxPool, AveragePool, GlobalAveragePool, Relu, "
                 "Sum, Add and Concat");
}

std::vector<TensorId> read_inputs(const JsonView& view, const TensorsByName& tensors) {
  std::vector<TensorId> inputs;
  for (const JsonView& element : view.array()) {
    const auto found = tensors.find(element.string());
    if (found == tensors.end()) {
      element.fail("no layer before this one is named '" + printable(element.string()) +
                   "'; layers stand after what they read, and \"input\" is the model's input");
    }
    inputs.push_back(found->second);
  }
  return inputs;
}

void read_layer(const JsonView& view, ModelBuilder& builder, TensorsByName& tensors) {
  ObjectReader reader(view);
  std::string name = reader.required("name").string();
  const JsonView type = reader.required("type");
  const LayerKind kind = read_kind(type, reader);
  std::vector<TensorId> inputs = read_inputs(reader.required("inputs"), tensors);
  if (type.string() == "Add" && inputs.size() != 2) type.fail("Add takes two inputs; use Sum");
  const auto block = reader.optional("block");
  reader.finish();
  builder.begin_block(block ? block->string() : std::string());
  try {
    tensors.emplace(name, builder.add(name, kind, std::move(inputs)));
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

template <class Windowed>
void write_window(Json& json, const Windowed& layer) {
  json["kernel_shape"] = {layer.kernel.h, layer.kernel.w};
  json["strides"] = {layer.stride.h, layer.stride.w};
  json["pads"] = {layer.padding.h, layer.padding.w, layer.padding.h, layer.padding.w};
}

Json to_json(const Layer& layer, const Model& model) {
  Json inputs = Json::array();
  for (const TensorId input : layer.inputs) inputs.push_back(model.tensor(input).name);
  Json json{{"name", layer.name}, {"type", onnx_type(layer.kind)}, {"inputs", std::move(inputs)}};
  if (const auto* conv = std::get_if<Conv>(&layer.kind)) {
    json["out_channels"] = conv->out_channels;
    write_window(json, *conv);
    json["group"] = conv->groups;
    json["bias"] = conv->bias;
  } else if (const auto* pool = std::get_if<Pool>(&layer.kind)) {
    write_window(json, *pool);
  }
  if (!layer.block.empty()) json["block"] = layer.block;
  return json;
}

}  // namespace

Json to_json(const Model& model) {
  const Shape& input = model.tensor(model.input()).shape;
  Json layers = Json::array();
  for (const Layer& layer : model.layers()) layers.push_back(to_json(layer, model));
  return {{"format", "hios-model"},
          {"version", 1},
          {"name", model.name()},
          {"input", {{"shape", {input.n, input.c, input.h, input.w}}}},
          {"layers", std::move(layers)}};
}

Model model_from_json(const JsonView& root, std::optional<std::int64_t> batch,
                      std::optional<std::int64_t> height, std::optional<std::int64_t> width) {
  ObjectReader reader = open_format(root, "hios-model", 1);
  std::string name = reader.required("name").string();
  ObjectReader input(reader.required("input"));
  const auto shape = read_integers(input.required("shape"), 4, 1);
  input.finish();
  const JsonView layers = reader.required("layers");
  reader.finish();

  ModelBuilder builder = open_model(
      input.view(), std::move(name),
      {batch.value_or(shape[0]), shape[1], height.value_or(shape[2]), width.value_or(shape[3])});
  TensorsByName tensors{{"input", builder.input()}};
  for (const JsonView& layer : layers.array()) read_layer(layer, builder, tensors);
  if (tensors.size() == 1) layers.fail("needs at least one layer");
  return std::move(builder).build();
}

}  // namespace hios
