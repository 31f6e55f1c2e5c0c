// The format's own rules: tensors fill the bytes after the header without gaps, in any order. The
// header is padded with spaces, so that values begin at a multiple of 64 bytes. A header says of
// itself how large it is, so what it may cost is known before it is parsed: its size by the number
// of tensors that the model has, and its entries by their names and counts.
#include "hios/model/weights/weights_file.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>
#include <variant>

#include "hios/base/error.h"
#include "hios/base/json/json_io.h"
#include "hios/base/json/json_view.h"

namespace hios {
namespace {

static_assert(std::endian::native == std::endian::little, "values are little-endian in the file");

constexpr std::size_t kLengthBytes = 8;
constexpr std::size_t kAlignment = 64;
// The most that is read of a header: more than any name and shape of a layer takes.
constexpr std::uint64_t kLeastHeader = 1 << 20, kHeaderOfTensor = 4096;
constexpr std::size_t kMostExtents = 8;

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

/// A tensor of a file.
struct Stored {
  std::string name;
  std::string type;
  Dims shape;
  std::uint64_t begin = 0, end = 0;  ///< bytes after the header
};

/// The content of a file, checked but for what the model needs.
class StoredTensors {
 public:
  /// `wanted`: the names of all tensors that the model has.
  StoredTensors(std::string name, std::string bytes, const std::set<std::string>& wanted,
                const ReadLimits& limits)
      : name_(std::move(name)), bytes_(std::move(bytes)) {
    read_header(wanted, limits);
    check_ranges();
  }

  /// Returns the values of a tensor, in the file's order.
  std::vector<float> read(const LayerTensors::Tensor& wanted) const {
    const auto found = by_name_.find(wanted.name);
    if (found == by_name_.end()) fail("has no tensor " + printable(wanted.name, 100));
    const Stored& stored = found->second;
    if (stored.type != "F32") {
      fail(describe(stored) + " has the type " + printable(stored.type, 20) + ", not F32");
    }
    if (stored.shape != wanted.shape) {
      fail(describe(stored) + " has the shape " + text(stored.shape) + ", and the layer needs " +
           text(wanted.shape));
    }
    std::vector<float> values(static_cast<std::size_t>(wanted.elements()));
    if (stored.end - stored.begin != values.size() * sizeof(float)) {
      fail(describe(stored) + " has " + std::to_string(stored.end - stored.begin) +
           " bytes, which its shape does not give");
    }
    std::memcpy(values.data(), data().data() + stored.begin, values.size() * sizeof(float));
    return values;
  }

 private:
  [[noreturn]] void fail(const std::string& message) const {
    throw InputError(name_ + ": " + message);
  }
  static std::string describe(const Stored& stored) {
    return "the tensor " + printable(stored.name, 100);
  }
  static std::string text(const Dims& shape) {
    std::string all;
    for (const std::int64_t extent : shape) {
      all += (all.empty() ? "" : "x") + std::to_string(extent);
    }
    return all.empty() ? "of a single value" : all;
  }
  std::string_view data() const { return std::string_view(bytes_).substr(header_end_); }

  void read_header(const std::set<std::string>& wanted, const ReadLimits& limits) {
    if (bytes_.size() < kLengthBytes) fail("is no safetensors file: it has fewer than 8 bytes");
    std::uint64_t length = 0;
    std::memcpy(&length, bytes_.data(), kLengthBytes);
    if (length > bytes_.size() - kLengthBytes) {
      fail("is no safetensors file, or was cut: its header would end after the file, at byte " +
           std::to_string(length) + " of " + std::to_string(bytes_.size() - kLengthBytes));
    }
    const std::uint64_t most = kLeastHeader + kHeaderOfTensor * wanted.size();
    if (length == 0 || length > most) {
      fail("is no safetensors file of this model: its header has " + std::to_string(length) +
           " bytes, and at most " + std::to_string(most) + " are read");
    }
    header_end_ = kLengthBytes + static_cast<std::size_t>(length);
    const std::string_view text(bytes_.data() + kLengthBytes, static_cast<std::size_t>(length));
    const std::string name_of_header = name_ + ": its header";
    const Json json = parse_json(text, name_of_header, limits);
    const JsonView header(json, name_of_header);
    for (const auto& [name, entry] : header.members()) {
      if (name == "__metadata__") {
        for (const auto& [key, value] : entry.members()) static_cast<void>(value.string());
      } else if (wanted.contains(name)) {
        add(name, entry);
      } else {
        fail("the tensor " + printable(name, 100) + " belongs to no layer of the model");
      }
    }
  }

  void add(const std::string& name, const JsonView& entry) {
    ObjectReader reader(entry);
    Stored stored{.name = name, .type = reader.required("dtype").string(), .shape = {}};
    const JsonView shape = reader.required("shape"), offsets = reader.required("data_offsets");
    reader.finish();
    if (shape.json().size() > kMostExtents) {
      fail(describe(stored) + " has " + std::to_string(shape.json().size()) + " extents");
    }
    for (const JsonView& extent : shape.array()) {
      stored.shape.push_back(extent.integer(0, std::int64_t{1} << 40));
    }
    if (!offsets.is_array() || offsets.json().size() != 2) {
      fail(describe(stored) + " has no two data_offsets");
    }
    const std::vector<JsonView> ends = offsets.array();
    const auto size = static_cast<std::int64_t>(data().size());
    stored.begin = static_cast<std::uint64_t>(ends[0].integer(0, size));
    stored.end =
        static_cast<std::uint64_t>(ends[1].integer(static_cast<std::int64_t>(stored.begin), size));
    by_name_.emplace(name, std::move(stored));
  }

  void check_ranges() const {
    std::vector<const Stored*> in_order;
    for (const auto& [name, stored] : by_name_) {
      if (stored.begin < stored.end) in_order.push_back(&stored);
    }
    std::ranges::sort(in_order, {}, &Stored::begin);
    std::uint64_t end = 0;
    for (const Stored* const stored : in_order) {
      if (stored->begin < end) fail(describe(*stored) + " overlaps another");
      if (stored->begin > end)
        fail("has bytes of no tensor before " + printable(stored->name, 100));
      end = stored->end;
    }
    if (end != data().size()) {
      fail("has " + std::to_string(data().size() - end) + " bytes of no tensor at its end");
    }
  }

  const std::string name_;
  const std::string bytes_;
  std::size_t header_end_ = kLengthBytes;
  std::map<std::string, Stored> by_name_;
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

/// Returns the header's length and the header, and adds the size of all values to `value_bytes`.
std::string header_of(const Model& model, Bytes& value_bytes) {
  Json header = {{"__metadata__", {{"format", "hios"}}}};
  for_each_layer(model, [&](const Layer&, const LayerTensors& tensors) {
    for (const auto* tensor : {&tensors.weights, &tensors.bias}) {
      if (!*tensor) continue;
      const Bytes begin = value_bytes;
      value_bytes += static_cast<Bytes>((*tensor)->elements()) * sizeof(float);
      header[(*tensor)->name] = {
          {"dtype", "F32"}, {"shape", (*tensor)->shape}, {"data_offsets", {begin, value_bytes}}};
    }
  });
  std::string text = header.dump();
  while ((kLengthBytes + text.size()) % kAlignment != 0) text += ' ';
  const std::uint64_t length = text.size();
  return std::string(reinterpret_cast<const char*>(&length), kLengthBytes) + text;
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
  Bytes value_bytes = 0;
  std::string bytes = header_of(model, value_bytes);
  bytes.reserve(bytes.size() + value_bytes);
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
