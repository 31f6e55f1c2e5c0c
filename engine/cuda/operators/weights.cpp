#include "engine/cuda/operators/weights.h"

#include <cstring>
#include <utility>

#include "hios/base/numbers/half.h"
#include "hios/graph/fusion/fusion.h"

namespace hios::cuda {
namespace {

/// Reorders weights of the axes (a, b, taps) to (taps, a, b), or to (a, taps, b).
std::vector<float> reordered(const std::vector<float>& onnx, std::size_t first, std::size_t second,
                             std::size_t taps, bool taps_first) {
  std::vector<float> result(onnx.size());
  for (std::size_t a = 0; a < first; ++a) {
    for (std::size_t b = 0; b < second; ++b) {
      for (std::size_t tap = 0; tap < taps; ++tap) {
        const std::size_t row = taps_first ? tap * first + a : a * taps + tap;
        result[row * second + b] = onnx[(a * second + b) * taps + tap];
      }
    }
  }
  return result;
}

/// Returns weights in the layout of UploadedWeights, from ONNX's order.
std::vector<float> arranged(const Layer& layer, std::vector<float> onnx) {
  const auto count = [](std::int64_t value) { return static_cast<std::size_t>(value); };
  if (const auto* conv = std::get_if<Conv>(&layer.kind)) {
    return reordered(onnx, count(conv->out_channels),
                     count(layer.input_shapes.front().c / conv->groups),
                     count(conv->kernel.h * conv->kernel.w), is_depthwise(layer));
  }
  if (const auto* conv = std::get_if<ConvTranspose>(&layer.kind)) {
    return reordered(onnx, count(layer.input_shapes.front().c),
                     count(conv->out_channels / conv->groups),
                     count(conv->kernel.h * conv->kernel.w), /*taps_first=*/true);
  }
  return onnx;
}

}  // namespace

void WeightsCache::reserve(Bytes size_bytes) {
  reserves_ = true;
  to_reserve_ = size_bytes;
  reserved_.reset();
}

// Memory outside the reserved block ends before its allocation does, so that it has no neighbour:
// copies must not cross from one allocation to another.
UploadedValues WeightsCache::device_memory(Bytes size_bytes, const std::string& what) {
  std::shared_ptr<DeviceBlock> block = reserved_.lock();
  if (to_reserve_ > 0) {
    block = std::make_shared<DeviceBlock>(to_reserve_, "parameters that are loaded later", shared_);
    reserved_ = block;
    used_ = to_reserve_ = 0;
  }
  if (block && used_ + size_bytes <= block->size_bytes()) {
    std::byte* const data = block->data() + used_;
    used_ += size_bytes;
    return {std::move(block), data, size_bytes};
  }
  const Bytes gap = reserves_ ? kParameterAlignment : 0;
  block = std::make_shared<DeviceBlock>(size_bytes + gap, what, reserves_ ? shared_ : nullptr);
  std::byte* const data = block->data();
  return {std::move(block), data, size_bytes};
}

UploadedValues WeightsCache::upload(const std::vector<float>& values, const std::string& what,
                                    bool in_place) {
  const Bytes value_bytes = values.size() * size_of(element_);
  const Bytes size_bytes =
      (value_bytes + kParameterAlignment - 1) / kParameterAlignment * kParameterAlignment;
  std::vector<std::byte> bytes(size_bytes);  // the end is 0, so that equal values are equal bytes
  if (element_ == Element::kHalf) {
    std::memcpy(bytes.data(), to_halves(values).data(), value_bytes);
  } else {
    std::memcpy(bytes.data(), values.data(), value_bytes);
  }
  if (in_place) {
    auto block = std::make_shared<PinnedBlock>(size_bytes, what, /*mapped=*/true);
    std::memcpy(block->data(), bytes.data(), size_bytes);
    std::byte* const mapped = block->on_device();
    return {std::move(block), mapped, size_bytes};
  }
  UploadedValues uploaded = device_memory(size_bytes, what);
  streams_.copy(uploaded.data, bytes.data(), size_bytes);
  return uploaded;
}

std::shared_ptr<DeviceBlock> WeightsCache::upload_table(std::span<const std::byte> bytes,
                                                        const std::string& what) {
  auto block = std::make_shared<DeviceBlock>(bytes.size(), what);
  streams_.copy(block->data(), bytes.data(), bytes.size());
  return block;
}

std::shared_ptr<const UploadedWeights> WeightsCache::get(const Model& model, const Layer& layer,
                                                         TensorSource& source) {
  std::weak_ptr<const UploadedWeights>& known = known_[{&source, &model, layer.name}];
  if (auto uploaded = known.lock()) return uploaded;

  const ParameterCounts counts = parameter_counts(layer.kind, layer.input_shapes);
  auto uploaded = std::make_shared<UploadedWeights>();
  const bool in_place = source.in_host_memory();
  if (counts.weights > 0) {
    std::vector<float> values(static_cast<std::size_t>(counts.weights));
    source.weights(model, layer, values);
    uploaded->weights =
        upload(arranged(layer, std::move(values)), "the weights of " + layer.name, in_place);
  }
  if (counts.bias > 0) {
    std::vector<float> values(static_cast<std::size_t>(counts.bias));
    source.bias(model, layer, values);
    uploaded->bias = upload(values, "the bias of " + layer.name, in_place);
  }
  known = uploaded;
  return uploaded;
}

void WeightsCache::add_memory(const Model& model, const Layer& layer, const TensorSource& source,
                              std::vector<std::span<std::byte>>& memory) const {
  const auto found = known_.find({&source, &model, layer.name});
  if (found == known_.end()) return;
  const auto uploaded = found->second.lock();
  if (!uploaded) return;
  for (const UploadedValues* const values : {&uploaded->weights, &uploaded->bias}) {
    if (values->data) memory.emplace_back(values->data, values->size_bytes);
  }
}

}  // namespace hios::cuda
