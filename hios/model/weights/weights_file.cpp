// The format's own rules: tensors fill the bytes after the header without gaps, in any order. The
// header is padded with spaces, so that values begin at a multiple of 64 bytes.
#include "hios/model/weights/weights_file.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>
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
    if (norm.scale) tensors.weights = {layer.name + "_scale", dims_of(*norm.scale)};
    if (norm.bias) tensors.bias = {layer.name + "_bias", dims_of(*norm.bias)};
    return tensors;
  }
  LayerTensors operator()(const auto&) const { return {}; }

  static Dims dims_of(const Shape& shape) { return {shape.n, shape.c, shape.h, shape.w}; }
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
  bool used = false;
};

/// The content of a file, checked but for what the model needs.
class StoredTensors {
 public:
  StoredTensors(std::string name, std::string bytes, const ReadLimits& limits)
      : name_(std::move(name)), bytes_(std::move(bytes)) {
    read_header(limits);
    check_ranges();
  }

  /// Returns the values of a tensor, in the file's order.
  std::vector<float> read(const LayerTensors::Tensor& wanted) {
    const auto found = by_name_.find(wanted.name);
    if (found == by_name_.end()) fail("has no tensor " + printable(wanted.name, 100));
    Stored& stored = found->second;
    stored.used = true;
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

  /// Throws InputError for a tensor that nobody has read.
  void require_all_read() const {
    for (const auto& [name, stored] : by_name_) {
      if (!stored.used) fail(describe(stored) + " belongs to no layer of the model");
    }
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

  void read_header(const ReadLimits& limits) {
    if (bytes_.size() < kLengthBytes) fail("is no safetensors file: it has fewer than 8 bytes");
    std::uint64_t length = 0;
    std::memcpy(&length, bytes_.data(), kLengthBytes);
    if (length > bytes_.size() - kLengthBytes) {
      fail("is no safetensors file, or was cut: its header would end after the file, at byte " +
           std::to_string(length) + " of " + std::to_string(bytes_.size() - kLengthBytes));
    }
    if (length > limits.max_bytes) fail("has a header of " + std::to_string(length) + " bytes");
    header_end_ = kLengthBytes + static_cast<std::size_t>(length);
    const std::string_view text(bytes_.data() + kLengthBytes, static_cast<std::size_t>(length));
    const Json json = parse_json(text, name_, limits);
    const JsonView header(json, name_);
    for (const auto& [name, entry] : header.members()) {
      if (name == "__metadata__") continue;
      add(name, entry);
    }
  }

  void add(const std::string& name, const JsonView& entry) {
    ObjectReader reader(entry);
    Stored stored{.name = name, .type = reader.required("dtype").string(), .shape = {}};
    for (const JsonView& extent : reader.required("shape").array()) {
      stored.shape.push_back(extent.integer(0, std::int64_t{1} << 40));
    }
    const std::vector<JsonView> ends = reader.required("data_offsets").array();
    reader.finish();
    if (ends.size() != 2) fail(describe(stored) + " has no two data_offsets");
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
    for (std::size_t i = 1; i < in_order.size(); ++i) {
      if (in_order[i]->begin >= in_order[i - 1]->end) continue;
      fail(describe(*in_order[i]) + " overlaps " + printable(in_order[i - 1]->name, 100));
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

/// Adds a tensor's entry to the header, and its values to the data.
void append(const Layer& layer, const std::optional<LayerTensors::Tensor>& tensor,
            std::vector<float> values, Json& header, std::string& data) {
  if (!tensor) return;
  const std::vector<float> ordered = to_file_order(layer, std::move(values), *tensor);
  const std::size_t begin = data.size();
  data.append(reinterpret_cast<const char*>(ordered.data()), ordered.size() * sizeof(float));
  header[tensor->name] = {
      {"dtype", "F32"}, {"shape", tensor->shape}, {"data_offsets", {begin, data.size()}}};
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
  ReadLimits of_file = limits;
  of_file.max_bytes = limits.max_weights_bytes;
  StoredTensors stored(printable(file.string(), 200), read_text(file, of_file), limits);
  ModelWeights weights;
  for (const Layer& layer : model.layers()) {
    const LayerTensors tensors = tensors_of(layer);
    if (!tensors.weights && !tensors.bias) continue;
    ModelWeights::Values values;
    const auto read = [&](const std::optional<LayerTensors::Tensor>& tensor) {
      if (!tensor) return std::vector<float>();
      return to_model_order(layer, stored.read(*tensor), *tensor);
    };
    values.weights = read(tensors.weights);
    values.bias = read(tensors.bias);
    weights.set(layer.name, std::move(values));
  }
  stored.require_all_read();
  return weights;
}

void write_weights(const std::filesystem::path& file, const Model& model,
                   const std::function<ModelWeights::Values(const Layer&)>& values,
                   Existing existing) {
  Json header = {{"__metadata__", {{"format", "hios"}}}};
  std::string data;
  for (const Layer& layer : model.layers()) {
    const LayerTensors tensors = tensors_of(layer);
    if (!tensors.weights && !tensors.bias) continue;
    ModelWeights::Values own = values(layer);
    append(layer, tensors.weights, std::move(own.weights), header, data);
    append(layer, tensors.bias, std::move(own.bias), header, data);
  }
  std::string text = header.dump();
  while ((kLengthBytes + text.size()) % kAlignment != 0) text += ' ';
  const std::uint64_t length = text.size();
  std::string bytes(reinterpret_cast<const char*>(&length), kLengthBytes);
  write_text(file, bytes + text + data, existing);
}

}  // namespace hios
