#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hios/model/model.h"

namespace hios::models {

/// Convolutions with the usual paddings: `same` keeps the extent at stride 1 (odd kernels), `valid`
/// has none.
Conv same(std::int64_t out_channels, Extent kernel, std::int64_t stride = 1);
Conv valid(std::int64_t out_channels, Extent kernel, std::int64_t stride = 1);

/// A block of a network under construction: layers added through it belong to it and are named
/// "BLOCK/name". Refers to the builder, which must outlive it; one block is open at a time.
class Block {
 public:
  Block(ModelBuilder& model, std::string name);

  /// Adds conv + bias + relu, as after folding the batch norm.
  TensorId conv_relu(const std::string& name, TensorId x, const Conv& conv);
  TensorId conv(const std::string& name, TensorId x, const Conv& conv);
  /// Adds relu + conv + bias (pre-activation).
  TensorId relu_conv(const std::string& name, TensorId x, const Conv& conv);
  /// Adds relu + depthwise + pointwise + bias, a separable convolution. The stride is the
  /// depthwise's.
  TensorId relu_sepconv(const std::string& name, TensorId x, std::int64_t out_channels,
                        std::int64_t kernel, std::int64_t stride = 1);

  TensorId max_pool(const std::string& name, TensorId x, std::int64_t stride,
                    std::int64_t padding = 0);  ///< 3x3
  TensorId average_pool(const std::string& name, TensorId x,
                        std::int64_t stride = 1);  ///< 3x3, same extent at stride 1
  TensorId global_average_pool(const std::string& name, TensorId x);
  TensorId relu(const std::string& name, TensorId x);
  TensorId sum(const std::string& name, std::vector<TensorId> xs);
  TensorId concat(const std::string& name, std::vector<TensorId> xs);

  std::int64_t channels(TensorId x) const { return model_.shape(x).c; }

 private:
  std::string full(const std::string& name) const { return prefix_ + name; }

  ModelBuilder& model_;
  std::string prefix_;
};

}  // namespace hios::models
