#include "engine/cuda/operators/graph/operation_graph.h"

#include <array>

namespace hios::cuda::graph {
namespace {

using Four = std::array<std::int64_t, 4>;

constexpr std::int64_t kAlignmentBytes = kOperandAlignment;

cudnnDataType_t stored_type(const ConvolutionProblem& problem) {
  return problem.element() == Element::kHalf ? CUDNN_DATA_HALF : CUDNN_DATA_FLOAT;
}

/// Describes a tensor (count, channels, height, width), in the API's order, with the channels of a
/// pixel contiguous in memory.
Descriptor tensor(std::int64_t id, cudnnDataType_t type, const Four& extent, bool is_virtual) {
  const auto [count, channels, height, width] = extent;
  const Four strides{height * width * channels, 1, width * channels, channels};
  Descriptor result(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  result.set(CUDNN_ATTR_TENSOR_UNIQUE_ID, id)
      .set(CUDNN_ATTR_TENSOR_DATA_TYPE, type)
      .set_all<std::int64_t>(CUDNN_ATTR_TENSOR_DIMENSIONS, extent)
      .set_all<std::int64_t>(CUDNN_ATTR_TENSOR_STRIDES, strides)
      .set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, kAlignmentBytes)
      .set(CUDNN_ATTR_TENSOR_IS_VIRTUAL, is_virtual);
  result.finalize();
  return result;
}

Descriptor convolution_settings(const ConvolutionProblem& problem) {
  using Two = std::array<std::int64_t, 2>;
  const TaskWindow& window = problem.window;
  Descriptor result(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
  result.set(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, std::int64_t{2})
      .set(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_DATA_FLOAT)
      .set(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_CROSS_CORRELATION)
      .set_all<std::int64_t>(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, Two{window.pad_h, window.pad_w})
      .set_all<std::int64_t>(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS,
                             Two{problem.end_pad_h(), problem.end_pad_w()})
      .set_all<std::int64_t>(CUDNN_ATTR_CONVOLUTION_DILATIONS,
                             Two{window.dilation_h, window.dilation_w})
      .set_all<std::int64_t>(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES,
                             Two{window.stride_h, window.stride_w});
  result.finalize();
  return result;
}

Descriptor pointwise_settings(cudnnPointwiseMode_t mode) {
  Descriptor result(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
  result.set(CUDNN_ATTR_POINTWISE_MODE, mode).set(CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_DATA_FLOAT);
  result.finalize();
  return result;
}

Descriptor convolution(const Descriptor& settings, const Descriptor& input,
                       const Descriptor& weights, const Descriptor& output) {
  Descriptor result(CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR);
  result.set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, settings)
      .set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, input)
      .set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, weights)
      .set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, output)
      .set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, 1.0f)
      .set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA, 0.0f);
  result.finalize();
  return result;
}

/// Describes a pointwise operation; `second` null: no second operand.
Descriptor pointwise(const Descriptor& settings, const Descriptor& input, const Descriptor* second,
                     const Descriptor& output) {
  Descriptor result(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
  result.set(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, settings)
      .set(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, input)
      .set(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, output);
  if (second != nullptr) result.set(CUDNN_ATTR_OPERATION_POINTWISE_BDESC, *second);
  result.finalize();
  return result;
}

}  // namespace

OperationGraph::OperationGraph(const ConvolutionProblem& problem, const Target& target)
    : target_(target),
      has_bias_(problem.bias),
      has_addend_(problem.addend),
      graph_(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR) {
  const TaskWindow& window = problem.window;
  const cudnnDataType_t type = stored_type(problem);
  // Descriptors are handles, which stay valid when a vector moves them; but references into it do
  // not.
  const auto keep = [this](Descriptor&& part) {
    parts_.push_back(std::move(part));
    return parts_.size() - 1;
  };
  const auto part = [this](std::size_t index) -> const Descriptor& { return parts_[index]; };

  // Operations to come.
  int left = 1 + (problem.bias ? 1 : 0) + (problem.addend ? 1 : 0) + (problem.relu_after ? 1 : 0);
  std::int64_t next_id = kFirstBetween;
  const Four output{window.images, window.out_channels, window.out_height, window.out_width};
  // Returns the next operation's result: the output, if it is the last.
  const auto result = [&] {
    return --left == 0 ? keep(tensor(kOutput, type, output, false))
                       : keep(tensor(next_id++, CUDNN_DATA_FLOAT, output, true));
  };

  const std::size_t input = keep(
      tensor(kInput, type, {window.images, window.channels, window.height, window.width}, false));
  const std::size_t weights = keep(tensor(
      kWeights, type,
      {window.out_channels, window.channels / problem.groups, window.kernel_h, window.kernel_w},
      false));
  const std::size_t settings = keep(convolution_settings(problem));
  std::size_t last = result();
  operations_.push_back(convolution(part(settings), part(input), part(weights), part(last)));
  const auto add = [&](Operand name, const Four& extent) {
    const std::size_t term = keep(tensor(name, type, extent, false));
    const std::size_t sum_of_two = keep(pointwise_settings(CUDNN_POINTWISE_ADD));
    const std::size_t sum = result();
    operations_.push_back(pointwise(part(sum_of_two), part(last), &part(term), part(sum)));
    last = sum;
  };
  // Only in this order has cuDNN 9 engines that it does not compile.
  if (problem.addend) add(kAddend, output);
  if (problem.bias) add(kBias, {1, window.out_channels, 1, 1});
  if (problem.relu_after) {
    const std::size_t relu = keep(pointwise_settings(CUDNN_POINTWISE_RELU_FWD));
    const std::size_t clipped = result();
    operations_.push_back(pointwise(part(relu), part(last), nullptr, part(clipped)));
  }
  if (target.handle != nullptr) graph_.set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, target.handle);
  graph_.set_all(CUDNN_ATTR_OPERATIONGRAPH_OPS, std::span<const Descriptor>(operations_));
  graph_.finalize();
}

}  // namespace hios::cuda::graph
