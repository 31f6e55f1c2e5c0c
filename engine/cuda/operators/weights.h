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

/// A convolution's weights and bias on the GPU, in the element of its tensors. There is one layout
/// for each kind, whatever computes with them: (out channel, kernel h, kernel w, in channel of the
/// group), which cuDNN, cuBLASLt and our own kernel read alike; for a depthwise one (kernel h,
/// kernel w, channel).
struct UploadedWeights {
  std::unique_ptr<DeviceBlock> weights, bias;  ///< no bias where the layer has none
  const void* weight_values() const { return weights->data(); }
  const void* bias_values() const { return bias ? bias->data() : nullptr; }
};

/// Weights, drawn from their source and uploaded once, and shared by all who want them: a profiler
/// binds an operator again for every stage in which it measures it. They live as long as an
/// operator that holds them. Main thread only.
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
