#include "hios/model/weights/weights_file.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <map>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>
#include <variant>

#include "hios/base/error.h"
#include "hios/model/weights/safetensors.h"

namespace hios {
namespace {

constexpr std::size_t kAlignment = 64;

using Dims = std::vector<std::int64_t>;

/// Names the tensors of a layer of each kind.
struct NameTensors {
  const Layer& layer;

  template <class Convolution>
  LayerTensors convolution(const Convolution& conv, std::int64_t first, std::int64_t second) const {
    LayerTensors tensors;
    tensors.weights = {layer.name + "_weight", {first, second, conv.kernel.h, conv.kernel.w}};
    if (conv.bias) tensors.bias = {layer.name + "_bias", {conv.out_channels}};
    return tensors;
  }
  LayerTensors operator()(const Conv& conv) const {
    return convolution(conv, conv.out_channels, layer.input_shapes.front().c / conv.groups);
  }
  LayerTensors operator()(const ConvTranspose& conv) const {
    return convolution(conv, layer.input_shapes.front().c, conv.out_channels / conv.groups);
  }
  LayerTensors operator()(const Binary& binary) const {
    LayerTensors tensors;
    if (binary.constant) tensors.weights = {layer.name + "_constant", dims_of(*binary.constant)};
    return tensors;
  }
  LayerTensors operator()(const Normalization& norm) const {
    LayerTensors tensors;
    if (norm.scale) tensors.weights = {layer.name + "_scale", per_channel(*norm.scale)};
    if (norm.bias) tensors.bias = {layer.name + "_bias", per_channel(*norm.bias)};
    return tensors;
  }
  LayerTensors operator()(const Gather& gather) const {
    LayerTensors tensors;
    if (gather.table) {
      const Shape& table = *gather.table;
      tensors.weights = {layer.name + "_table", {table.n * table.h * table.w, table.c}};
    }
    return tensors;
  }
  LayerTensors operator()(const auto&) const { return {}; }

  static Dims dims_of(const Shape& shape) { return {shape.n, shape.c, shape.h, shape.w}; }
  static Dims per_channel(const Shape& shape) {
    return shape == Shape{1, shape.c, 1, 1} ? Dims{shape.c} : dims_of(shape);
  }
};

/// Returns true for values that the model keeps as NHWC, and the file as NCHW.
bool is_image(const Layer& layer) {
  return std::holds_alternative<Binary>(layer.kind) ||
         std::holds_alternative<Normalization>(layer.kind);
}

/// Returns the index of the first NaN or infinity, or the number of values. The first loop has no
/// branch, so that it costs a small share of reading the values.
std::size_t first_not_finite(const std::vector<float>& values) {
  constexpr std::uint32_t kWithoutSign = 0x7fffffff, kInfinite = 0x7f800000;
  std::uint32_t largest = 0;
  for (const float value : values) {
    largest = std::max(largest, std::bit_cast<std::uint32_t>(value) & kWithoutSign);
  }
  if (largest < kInfinite) return values.size();
  const auto found =
      std::ranges::find_if(values, [](float value) { return !std::isfinite(value); });
  return static_cast<std::size_t>(found - values.begin());
}

/// The content of a file, checked but for what the model needs.
class StoredTensors {
 public:
  /// `wanted`: the names of all tensors that the model has.
  StoredTensors(std::string name, std::string bytes, const std::set<std::string>& wanted,
                const ReadLimits& limits)
      : name_(std::move(name)), bytes_(std::move(bytes)) {
    const safetensors::Expected expected{
        wanted.size(), [&](const std::string& tensor) { return wanted.contains(tensor); }};
    safetensors::Header header =
        safetensors::read_header(bytes_, bytes_.size(), name_, expected, limits);
    values_begin_ = header.size_bytes;
    for (safetensors::Tensor& tensor : header.tensors) {
      by_name_.emplace(tensor.name, std::move(tensor));
    }
  }

  /// Returns the values of a tensor, in the file's order.
  std::vector<float> read(const LayerTensors::Tensor& wanted) const {
    const auto found = by_name_.find(wanted.name);
    if (found == by_name_.end()) fail("has no tensor " + printable(wanted.name, 100));
    const safetensors::Tensor& stored = found->second;
    const std::string described = "the tensor " + printable(stored.name, 100);
    if (stored.type != "F32") {
      fail(described + " has the type " + printable(stored.type, 20) + ", not F32");
    }
    if (stored.shape != wanted.shape) {
      fail(described + " has the shape " + text(stored.shape) + ", and the layer needs " +
           text(wanted.shape));
    }
    std::vector<float> values(static_cast<std::size_t>(wanted.elements()));
    if (stored.size_bytes() != values.size() * sizeof(float)) {
      fail(described + " has " + std::to_string(stored.size_bytes()) +
           " bytes, which its shape does not give");
    }
    std::memcpy(values.data(), bytes_.data() + values_begin_ + stored.begin, stored.size_bytes());
    if (const std::size_t index = first_not_finite(values); index < values.size()) {
      fail(described + " has " + (std::isnan(values[index]) ? "a NaN" : "an infinity") +
           " as value " + std::to_string(index) + " of " + std::to_string(values.size()) +
           "; write the file again with numbers alone");
    }
    return values;
  }

 private:
  [[noreturn]] void fail(const std::string& message) const {
    throw InputError(name_ + ": " + message);
  }
  static std::string text(const Dims& shape) {
    std::string all;
    for (const std::int64_t extent : shape) {
      all += (all.empty() ? "" : "x") + std::to_string(extent);
    }
    return all.empty() ? "of a single value" : all;
  }

  const std::string name_;
  const std::string bytes_;
  std::uint64_t values_begin_ = 0;
  std::map<std::string, safetensors::Tensor> by_name_;
};

std::vector<float> to_file_order(const Layer& layer, std::vector<float> values,
                                 const LayerTensors::Tensor& tensor) {
  return is_image(layer) ? in_row_major_order(std::move(values), tensor.shape) : values;
}

std::vector<float> to_model_order(const Layer& layer, std::vector<float> values,
                                  const LayerTensors::Tensor& tensor) {
  return is_image(layer) ? in_memory_order(std::move(values), tensor.shape) : values;
}

/// Calls visit(layer, tensors) for each layer with parameters.
template <class Visit>
void for_each_layer(const Model& model, Visit&& visit) {
  for (const Layer& layer : model.layers()) {
    const LayerTensors tensors = tensors_of(layer);
    if (tensors.weights || tensors.bias) visit(layer, tensors);
  }
}

/// Returns the header of the weights of a model.
safetensors::Header header_of(const Model& model) {
  safetensors::Header header{.metadata = {{"format", "hios"}}, .tensors = {}};
  std::uint64_t end = 0;
  for_each_layer(model, [&](const Layer&, const LayerTensors& tensors) {
    for (const auto* tensor : {&tensors.weights, &tensors.bias}) {
      if (!*tensor) continue;
      const std::uint64_t begin = end;
      end += static_cast<std::uint64_t>((*tensor)->elements()) * sizeof(float);
      header.tensors.push_back({(*tensor)->name, "F32", (*tensor)->shape, begin, end});
    }
  });
  return header;
}

/// Throws InputError where the bytes of the file and the values do not fit into memory together.
void require_readable(const std::filesystem::path& file, const std::string& name,
                      const Model& model, const ReadLimits& limits) {
  std::error_code unknown;
  const auto size = std::filesystem::file_size(file, unknown);
  if (unknown || size > limits.max_weights_bytes) return;  // reading it says why not
  require_available(name + ": reading it takes",
                    size + static_cast<Bytes>(model.parameters()) * sizeof(float), limits);
}

}  // namespace

std::int64_t LayerTensors::Tensor::elements() const {
  std::int64_t product = 1;
  for (const std::int64_t extent : shape) product *= extent;
  return product;
}

LayerTensors tensors_of(const Layer& layer) { return std::visit(NameTensors{layer}, layer.kind); }

ModelWeights read_weights(const std::filesystem::path& file, const Model& model,
                          const ReadLimits& limits) {
  const std::string name = printable(file.string(), 200);
  require_readable(file, name, model, limits);
  std::set<std::string> wanted;
  for_each_layer(model, [&](const Layer&, const LayerTensors& tensors) {
    if (tensors.weights) wanted.insert(tensors.weights->name);
    if (tensors.bias) wanted.insert(tensors.bias->name);
  });
  ReadLimits of_file = limits;
  of_file.max_bytes = limits.max_weights_bytes;
  const StoredTensors stored(name, read_text(file, of_file), wanted, limits);
  ModelWeights weights;
  for_each_layer(model, [&](const Layer& layer, const LayerTensors& tensors) {
    const auto read = [&](const std::optional<LayerTensors::Tensor>& tensor) {
      if (!tensor) return std::vector<float>();
      return to_model_order(layer, stored.read(*tensor), *tensor);
    };
    weights.set(layer.name, {read(tensors.weights), read(tensors.bias)});
  });
  return weights;
}

void write_weights(const std::filesystem::path& file, const Model& model,
                   const std::function<ModelWeights::Values(const Layer&)>& values,
                   Existing existing) {
  const safetensors::Header header = header_of(model);
  std::string bytes = safetensors::header_text(header, kAlignment);
  if (!header.tensors.empty()) bytes.reserve(bytes.size() + header.tensors.back().end);
  for_each_layer(model, [&](const Layer& layer, const LayerTensors& tensors) {
    ModelWeights::Values own = values(layer);
    const auto append = [&](std::vector<float> some, const LayerTensors::Tensor& tensor) {
      const std::vector<float> ordered = to_file_order(layer, std::move(some), tensor);
      bytes.append(reinterpret_cast<const char*>(ordered.data()), ordered.size() * sizeof(float));
    };
    if (tensors.weights) append(std::move(own.weights), *tensors.weights);
    if (tensors.bias) append(std::move(own.bias), *tensors.bias);
  });
  write_text(file, bytes, existing);
}

}  // namespace hios
