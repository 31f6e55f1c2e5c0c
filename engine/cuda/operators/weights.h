#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "engine/backend/tensor_source.h"
#include "engine/cuda/device/memory.h"
#include "engine/cuda/device/streams.h"
#include "engine/cuda/kernels/kernels.h"
#include "hios/model/model.h"

namespace hios::cuda {

/// Values in memory that the GPU reads, and the memory's owner.
struct UploadedValues {
  std::shared_ptr<void> memory;
  std::byte* data = nullptr;  ///< on the device, or mapped there
  Bytes size_bytes = 0;       ///< what no other values use: a multiple of kParameterAlignment
};

/// The alignment of a layer's weights and of its bias, as cudaMalloc's.
inline constexpr Bytes kParameterAlignment = 256;

/// A layer's weights and bias on the GPU, in the element of its tensors. A convolution has one
/// layout for all algorithms: (out channel, kernel h, kernel w, in channel of the group), which
/// cuDNN, cuBLASLt and our own kernel all read; a depthwise one (kernel h, kernel w, channel), a
/// transposed one (kernel h, kernel w, in channel, out channel of the group). The values of any
/// other layer lie as their source gives them: NHWC.
struct UploadedWeights {
  UploadedValues weights, bias;  ///< no bias if the layer has none
  const void* weight_values() const { return weights.data; }
  const void* bias_values() const { return bias.data; }
};

/// Weights, drawn from their source, uploaded once and shared by all operators that use them: a
/// profiler binds an operator again for every stage in which it measures it. They live as long as
/// an operator holds them. Those of a source in host memory stay there, pinned and mapped. Main
/// thread only.
class WeightsCache {
 public:
  /// `shared`: the blocks that other processes may map; null: none. It outlives this and all
  /// weights.
  WeightsCache(Streams& streams, Element element, SharedBlocks* shared = nullptr)
      : streams_(streams), element_(element), shared_(shared) {}
  std::shared_ptr<const UploadedWeights> get(const Model& model, const Layer& layer,
                                             TensorSource& source);
  /// Uploads values that no model has, for an operator that computed them.
  std::shared_ptr<DeviceBlock> upload_table(std::span<const std::byte> bytes,
                                            const std::string& what);
  /// See Backend::reserve_parameters.
  void reserve(Bytes size_bytes);
  /// Adds the memory of a layer's weights and bias to `memory`, if an operator holds them.
  void add_memory(const Model& model, const Layer& layer, const TensorSource& source,
                  std::vector<std::span<std::byte>>& memory) const;

 private:
  using Key = std::tuple<const TensorSource*, const Model*, std::string>;
  UploadedValues upload(const std::vector<float>& values, const std::string& what, bool in_place);
  UploadedValues device_memory(Bytes size_bytes, const std::string& what);

  Streams& streams_;
  Element element_;
  SharedBlocks* shared_;
  bool reserves_ = false;                // reserve() was called
  Bytes to_reserve_ = 0;                 // by the next values that need memory
  std::weak_ptr<DeviceBlock> reserved_;  // the values in it own it
  Bytes used_ = 0;                       // of `reserved_`
  std::map<Key, std::weak_ptr<const UploadedWeights>> known_;
};

}  // namespace hios::cuda
