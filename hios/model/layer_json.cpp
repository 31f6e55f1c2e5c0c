#include "hios/model/layer_json.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <type_traits>
#include <utility>

#include "hios/base/error.h"
#include "hios/model/layer_fields.h"

namespace hios {
namespace {

constexpr std::size_t kMaxListed = 64;

Extent read_extent(const JsonView& view, std::int64_t least = 1) {
  const auto values = read_integers(view, 2, least);
  return {values[0], values[1]};
}

/// Returns a padding written in the order of ONNX: top, left, bottom, right.
Padding read_pads(const JsonView& view) {
  const auto values = read_integers(view, 4, 0);
  return {Extent{values[0], values[1]}, Extent{values[2], values[3]}};
}

Json pads(const Padding& padding) {
  return {padding.begin.h, padding.begin.w, padding.end.h, padding.end.w};
}

/// Reads the attributes that Conv and the pools share.
template <class Windowed>
void read_window(ObjectReader& reader, Windowed& layer) {
  layer.kernel = read_extent(reader.required("kernel_shape"));
  layer.stride = {1, 1};
  layer.padding = {0, 0};
  if (const auto strides = reader.optional("strides")) layer.stride = read_extent(*strides);
  if (const auto pads = reader.optional("pads")) layer.padding = read_pads(*pads);
  if (const auto dilations = reader.optional("dilations")) layer.dilation = read_extent(*dilations);
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
  if (const auto ceil = reader.optional("ceil_mode")) pool.ceil = ceil->boolean();
  if (const auto count = reader.optional("count_include_pad")) {
    pool.count_padding = count->boolean();
  }
  return pool;
}

template <class Windowed>
void write_window(Json& json, const Windowed& layer) {
  json["kernel_shape"] = {layer.kernel.h, layer.kernel.w};
  json["strides"] = {layer.stride.h, layer.stride.w};
  json["pads"] = pads(layer.padding);
  if (layer.dilation != Extent{}) json["dilations"] = {layer.dilation.h, layer.dilation.w};
}

// Reading and writing of attributes, by their types.

constexpr double kLargestFloat = std::numeric_limits<float>::max();

void read(const JsonView& view, std::int64_t& value) {
  value = view.integer(-kMaxBytes, kMaxBytes);
}
void read(const JsonView& view, bool& value) { value = view.boolean(); }
void read(const JsonView& view, float& value) {
  value = static_cast<float>(view.number(-kLargestFloat, kLargestFloat));
}
void read(const JsonView& view, double& value) {
  value = view.number(-kLargestFloat, kLargestFloat);
}
void read(const JsonView& view, Extent& value) { value = read_extent(view, 0); }
void read(const JsonView& view, Padding& value) { value = read_pads(view); }
void read(const JsonView& view, Shape& value) { value = read_shape(view, 0); }
void read(const JsonView& view, std::optional<Shape>& value) { value = read_shape(view); }
void read(const JsonView& view, Axes& value) {
  value = {};
  const std::string text = view.string();
  for (const char letter : text) {
    bool* axis = letter == 'n'   ? &value.n
                 : letter == 'c' ? &value.c
                 : letter == 'h' ? &value.h
                 : letter == 'w' ? &value.w
                                 : nullptr;
    if (axis == nullptr || *axis) view.fail("must be some of the letters n, c, h and w");
    *axis = true;
  }
}
void read(const JsonView& view, std::vector<Move::Dimension>& value) {
  value.clear();
  for (const JsonView& element : view.array()) {
    const std::vector<JsonView> pair = element.array();
    if (pair.size() != 2) element.fail("must be [size, stride]");
    value.push_back({pair[0].integer(1, kMaxExtent), pair[1].integer(-kMaxBytes, kMaxBytes)});
    if (value.size() > kMaxListed) view.fail("is too long");
  }
}
template <class Enum>
requires std::is_enum_v<Enum>
void read(const JsonView& view, Enum& value) {
  const std::string text = view.string();
  const auto& names = Names<Enum>::kAll;
  const auto found = std::ranges::find(names, text);
  if (found == names.end()) {
    std::string known;
    for (const std::string_view name : names)
      known += (known.empty() ? "" : ", ") + std::string(name);
    view.fail("'" + printable(text) + "' is unknown; known are " + known);
  }
  value = static_cast<Enum>(found - names.begin());
}

Json written(std::int64_t value) { return value; }
Json written(bool value) { return value; }
Json written(float value) { return value; }
Json written(double value) { return value; }
Json written(const Extent& value) { return {value.h, value.w}; }
Json written(const Padding& value) { return pads(value); }
Json written(const Shape& value) { return {value.n, value.c, value.h, value.w}; }
Json written(const std::optional<Shape>& value) { return value ? written(*value) : Json(); }
Json written(const Axes& value) {
  return std::string(value.n ? "n" : "") + (value.c ? "c" : "") + (value.h ? "h" : "") +
         (value.w ? "w" : "");
}
Json written(const std::vector<Move::Dimension>& value) {
  Json list = Json::array();
  for (const Move::Dimension& dimension : value) list.push_back({dimension.size, dimension.stride});
  return list;
}
template <class Enum>
requires std::is_enum_v<Enum> Json written(Enum value) { return name_of(value); }

/// Reads the attributes that are present; others keep their defaults.
template <class Kind>
Kind read_fields(ObjectReader& reader, Kind layer) {
  fields(layer, [&](std::string_view name, auto& value) {
    if (const auto view = reader.optional(name)) read(*view, value);
  });
  return layer;
}

/// Reads a kind whose attributes layer_fields.h lists. Empty: no such type.
std::optional<LayerKind> read_listed_kind(const std::string& type, ObjectReader& reader) {
  const auto function_of = [&]<class Kind>(Kind layer) -> std::optional<LayerKind> {
    const auto& names = Names<typename Kind::Function>::kAll;
    const auto found = std::ranges::find(names, type);
    if (found == names.end()) return {};
    layer.function = static_cast<typename Kind::Function>(found - names.begin());
    return read_fields(reader, layer);
  };
  if (auto unary = function_of(Unary{})) return unary;
  if (auto binary = function_of(Binary{})) return binary;
  if (auto reduce = function_of(Reduce{})) return reduce;
  if (type == "Concat") return read_fields(reader, Concat{});
  if (type == "ConvTranspose") return read_fields(reader, ConvTranspose{});
  if (type == "Softmax") return read_fields(reader, Softmax{});
  if (type == "Normalization") return read_fields(reader, Normalization{});
  if (type == "LRN") return read_fields(reader, LocalResponseNormalization{});
  if (type == "Resize") return read_fields(reader, Resize{});
  if (type == "Pad") return read_fields(reader, Pad{});
  if (type == "Move") return read_fields(reader, Move{});
  if (type == "MatMul") return read_fields(reader, MatMul{});
  if (type == "Gather") return read_fields(reader, Gather{});
  if (type == "TopK") return read_fields(reader, TopK{});
  return {};
}

}  // namespace

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

Shape read_shape(const JsonView& view, std::int64_t least) {
  const auto values = read_integers(view, 4, least);
  return {values[0], values[1], values[2], values[3]};
}

LayerKind read_kind(const JsonView& type_view, ObjectReader& reader) {
  const std::string type = type_view.string();
  if (type == "Conv") return read_conv(reader);
  if (type == "MaxPool") return read_pool(reader, Pool::Kind::kMax);
  if (type == "AveragePool") return read_pool(reader, Pool::Kind::kAverage);
  if (type == "GlobalAveragePool") return GlobalAveragePool{};
  if (type == "Relu") return Relu{};
  if (type == "Sum") return Sum{};
  if (const auto kind = read_listed_kind(type, reader)) return *kind;
  type_view.fail("'" + printable(type) +
                 "' is unknown; known are Conv, MaxPool, AveragePool, GlobalAveragePool, Relu, "
                 "Sum, Concat and the others that docs/formats.md lists");
}

void write_kind(Json& json, const LayerKind& kind) {
  if (const auto* conv = std::get_if<Conv>(&kind)) {
    json["out_channels"] = conv->out_channels;
    write_window(json, *conv);
    json["group"] = conv->groups;
    json["bias"] = conv->bias;
    return;
  }
  if (const auto* pool = std::get_if<Pool>(&kind)) {
    write_window(json, *pool);
    if (pool->ceil) json["ceil_mode"] = true;
    if (pool->count_padding) json["count_include_pad"] = true;
    return;
  }
  std::visit(
      [&](const auto& layer) {
        fields(layer, [&](std::string_view name, const auto& value) {
          const Json text = written(value);
          if (!text.is_null()) json[std::string(name)] = text;
        });
      },
      kind);
}

}  // namespace hios
