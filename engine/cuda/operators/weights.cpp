#include "engine/cuda/operators/weights.h"

#include "hios/base/numbers/half.h"
#include "hios/graph/fusion/fusion.h"

namespace hios::cuda {
namespace {

/// Reorders weights from ONNX order (out, in of the group, kernel h, kernel w).
std::vector<float> reordered(const std::vector<float>& onnx, std::size_t outputs,
                             std::size_t inputs, std::size_t taps, bool depthwise) {
  std::vector<float> result(onnx.size());
  for (std::size_t o = 0; o < outputs; ++o) {
    for (std::size_t i = 0; i < inputs; ++i) {
      for (std::size_t tap = 0; tap < taps; ++tap) {
        const std::size_t to = depthwise ? tap * outputs + o : (o * taps + tap) * inputs + i;
        result[to] = onnx[(o * inputs + i) * taps + tap];
      }
    }
  }
  return result;
}

}  // namespace

std::unique_ptr<DeviceBlock> WeightsCache::upload(const std::vector<float>& values,
                                                  const std::string& what) {
  const Bytes size_bytes = values.size() * size_of(element_);
  auto block = std::make_unique<DeviceBlock>(size_bytes, what);
  if (element_ == Element::kHalf) {
    streams_.copy(block->data(), to_halves(values).data(), size_bytes);
  } else {
    streams_.copy(block->data(), values.data(), size_bytes);
  }
  return block;
}

std::shared_ptr<const UploadedWeights> WeightsCache::get(const Model& model, const Layer& layer,
                                                         TensorSource& source) {
  std::weak_ptr<const UploadedWeights>& known = known_[{&source, &model, layer.name}];
  if (auto uploaded = known.lock()) return uploaded;

  const Conv& conv = std::get<Conv>(layer.kind);
  const auto outputs = static_cast<std::size_t>(conv.out_channels);
  const auto inputs = static_cast<std::size_t>(layer.input_shapes.front().c / conv.groups);
  const auto taps = static_cast<std::size_t>(conv.kernel.h * conv.kernel.w);
  auto uploaded = std::make_shared<UploadedWeights>();
  std::vector<float> values(outputs * inputs * taps);
  source.weights(model, layer, values);
  values = reordered(values, outputs, inputs, taps, is_depthwise(layer));
  uploaded->weights = upload(values, "the weights of " + layer.name);
  if (conv.bias) {
    values.resize(outputs);
    source.bias(model, layer, values);
    uploaded->bias = upload(values, "the bias of " + layer.name);
  }
  known = uploaded;
  return uploaded;
}

}  // namespace hios::cuda
