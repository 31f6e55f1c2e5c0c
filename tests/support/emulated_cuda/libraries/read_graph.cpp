#include <array>

#include "support/emulated_cuda/libraries/descriptor.h"

namespace hios::cuda_emulation {
namespace {

/// A tensor: images, channels, height, width.
struct GraphTensor {
  std::int64_t id;
  std::array<int, 4> extent{};
  bool halves, is_virtual;
};

void require(bool condition) {
  if (!condition) throw CUDNN_STATUS_BAD_PARAM;
}

GraphTensor tensor_of(const EmulatedDescriptor& descriptor) {
  require(descriptor.type == CUDNN_BACKEND_TENSOR_DESCRIPTOR && descriptor.finalized);
  GraphTensor tensor;
  tensor.id = descriptor.one<std::int64_t>(CUDNN_ATTR_TENSOR_UNIQUE_ID);
  const auto extent = descriptor.all<std::int64_t>(CUDNN_ATTR_TENSOR_DIMENSIONS);
  const auto strides = descriptor.all<std::int64_t>(CUDNN_ATTR_TENSOR_STRIDES);
  require(extent.size() == 4 && strides.size() == 4);
  for (std::size_t i = 0; i < 4; ++i) tensor.extent[i] = static_cast<int>(extent[i]);
  // Only the channels of a pixel next to each other.
  require(strides[1] == 1 && strides[3] == extent[1] && strides[2] == extent[1] * extent[3] &&
          strides[0] == extent[1] * extent[2] * extent[3]);
  require(descriptor.one<std::int64_t>(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT) ==
          static_cast<std::int64_t>(kPromisedAlignment));
  tensor.halves = descriptor.one<cudnnDataType_t>(CUDNN_ATTR_TENSOR_DATA_TYPE) == CUDNN_DATA_HALF;
  tensor.is_virtual = descriptor.one<bool>(CUDNN_ATTR_TENSOR_IS_VIRTUAL);
  return tensor;
}

void read_window(const EmulatedDescriptor& settings, Convolution& result) {
  const auto two = [&](cudnnBackendAttributeName_t name) {
    const auto values = settings.all<std::int64_t>(name);
    require(values.size() == 2);
    return std::array{static_cast<int>(values[0]), static_cast<int>(values[1])};
  };
  require(settings.one<cudnnDataType_t>(CUDNN_ATTR_CONVOLUTION_COMP_TYPE) == CUDNN_DATA_FLOAT &&
          settings.one<std::int64_t>(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS) == 2);
  const auto before = two(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS);
  const auto after = two(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS);
  const auto dilation = two(CUDNN_ATTR_CONVOLUTION_DILATIONS);
  const auto stride = two(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES);
  std::tie(result.pad_h, result.pad_w) = std::tuple(before[0], before[1]);
  std::tie(result.dilation_h, result.dilation_w) = std::tuple(dilation[0], dilation[1]);
  std::tie(result.stride_h, result.stride_w) = std::tuple(stride[0], stride[1]);
  const auto windows = [](int extent, int pads, int kernel, int apart, int step) {
    return (extent + pads - (kernel - 1) * apart - 1) / step + 1;
  };
  require(result.out_height == windows(result.height, before[0] + after[0], result.kernel_h,
                                       dilation[0], stride[0]) &&
          result.out_width ==
              windows(result.width, before[1] + after[1], result.kernel_w, dilation[1], stride[1]));
}

GraphTensor read_convolution(const EmulatedDescriptor& operation, GraphConvolution& graph) {
  require(operation.type == CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR);
  const GraphTensor x = tensor_of(operation.part(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X));
  const GraphTensor w = tensor_of(operation.part(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W));
  const GraphTensor y = tensor_of(operation.part(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y));
  Convolution& result = graph.convolution;
  std::tie(result.images, result.channels, result.height, result.width) = std::tuple_cat(x.extent);
  result.out_height = y.extent[2];
  result.out_width = y.extent[3];
  result.out_channels = w.extent[0];
  result.kernel_h = w.extent[2];
  result.kernel_w = w.extent[3];
  require(x.halves == w.halves && w.extent[1] > 0 && result.channels % w.extent[1] == 0 &&
          y.extent[0] == x.extent[0] && y.extent[1] == w.extent[0] && !x.is_virtual);
  result.groups = result.channels / w.extent[1];
  result.halves = x.halves;
  read_window(operation.part(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC), result);
  graph.input = x.id;
  graph.weights = w.id;
  return y;
}

}  // namespace

GraphConvolution read_graph(const EmulatedDescriptor& graph) {
  GraphConvolution result;
  const auto operations = graph.all<cudnnBackendDescriptor_t>(CUDNN_ATTR_OPERATIONGRAPH_OPS);
  require(!operations.empty());
  GraphTensor last = read_convolution(*operations.front(), result);
  for (std::size_t i = 1; i < operations.size(); ++i) {
    const EmulatedDescriptor& operation = *operations[i];
    require(operation.type == CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR && operation.finalized);
    const GraphTensor x = tensor_of(operation.part(CUDNN_ATTR_OPERATION_POINTWISE_XDESC));
    require(last.is_virtual && x.id == last.id && x.extent == last.extent);
    const auto mode = operation.part(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR)
                          .one<cudnnPointwiseMode_t>(CUDNN_ATTR_POINTWISE_MODE);
    if (mode == CUDNN_POINTWISE_ADD) {
      const GraphTensor term = tensor_of(operation.part(CUDNN_ATTR_OPERATION_POINTWISE_BDESC));
      const bool is_bias =
          !result.convolution.bias && term.extent == std::array{1, x.extent[1], 1, 1};
      require(!(is_bias ? result.convolution.bias : result.convolution.addend) &&
              !result.convolution.relu && !term.is_virtual &&
              term.halves == result.convolution.halves && (is_bias || term.extent == x.extent));
      (is_bias ? result.convolution.bias : result.convolution.addend) = true;
      (is_bias ? result.bias : result.addend) = term.id;
    } else {
      require(mode == CUDNN_POINTWISE_RELU_FWD);
      result.convolution.relu = true;
    }
    last = tensor_of(operation.part(CUDNN_ATTR_OPERATION_POINTWISE_YDESC));
    require(last.extent == x.extent);
  }
  require(!last.is_virtual && last.halves == result.convolution.halves);
  result.output = last.id;
  return result;
}

}  // namespace hios::cuda_emulation
