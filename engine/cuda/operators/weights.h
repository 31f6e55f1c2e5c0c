#pragma once

#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "engine/backend/tensor_source.h"
#include "engine/cuda/device/memory.h"
#include "engine/cuda/device/streams.h"
#include "engine/cuda/kernels/kernels.h"
#include "hios/model/model.h"

namespace hios::cuda {

/// A convolution's weights and bias on the GPU, in the element of its tensors. Each kind has one
/// layout for all algorithms: (out channel, kernel h, kernel w, in channel of the group), which
/// cuDNN, cuBLASLt and our own kernel all read; for a depthwise one (kernel h, kernel w, channel).
struct UploadedWeights {
  std::unique_ptr<DeviceBlock> weights, bias;  ///< no bias if the layer has none
  const void* weight_values() const { return weights->data(); }
  const void* bias_values() const { return bias ? bias->data() : nullptr; }
};

/// Weights, drawn from their source, uploaded once and shared by all operators that use them: a
/// profiler binds an operator again for every stage in which it measures it. They live as long as
/// an operator holds them. Main thread only.
class WeightsCache {
 public:
  WeightsCache(Streams& streams, Element element) : streams_(streams), element_(element) {}
  std::shared_ptr<const UploadedWeights> get(const Model& model, const Layer& layer,
                                             TensorSource& source);

 private:
  using Key = std::tuple<const TensorSource*, const Model*, std::string>;
  std::unique_ptr<DeviceBlock> upload(const std::vector<float>& values, const std::string& what);

  Streams& streams_;
  Element element_;
  std::map<Key, std::weak_ptr<const UploadedWeights>> known_;
};

}  // namespace hios::cuda
