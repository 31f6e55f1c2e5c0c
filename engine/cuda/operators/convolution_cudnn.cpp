// The family kCudnnConvolutions (convolution.h): cuDNN's convolutions as "cudnn ALGORITHM MATH
// fused|plain".
//
// It uses the legacy calls. For NHWC they name a handful of algorithms, state of each whether it is
// deterministic and what workspace it needs, and compile nothing while they run. Bias and relu are
// fused where cudnnConvolutionBiasActivationForward accepts them, and otherwise cost one pass of
// ours. These calls pad all sides alike. The newer calls do not, and have engines that the legacy
// calls never name; they are another family (graph/convolution_graph.cpp).
#include <algorithm>
#include <array>

#include "engine/cuda/device/handles.h"
#include "engine/cuda/operators/convolution.h"

namespace hios::cuda {
namespace {

/// A larger workspace would be out of proportion for one operator.
constexpr std::size_t kMaxWorkspaceBytes = std::size_t{512} << 20;

constexpr int kMathCount = 4;  // cudnnMathType_t

class CudnnConvolution final : public ConvolutionAlgorithm {
 public:
  CudnnConvolution(const ConvolutionProblem& problem, const ConvolutionTools& tools,
                   cudnnConvolutionFwdAlgo_t algorithm, cudnnMathType_t math, bool fused);

  Bytes workspace_bytes() const override { return relu_first_.workspace_bytes() + own_bytes_; }
  void queue(const ConvolutionOperands& operands, std::byte* workspace,
             std::string_view doing) override;

 private:
  void queue_fused(const void* input, const ConvolutionOperands& operands, std::byte* workspace,
                   std::string_view doing);
  void queue_plain(const void* input, const ConvolutionOperands& operands, std::byte* workspace,
                   std::string_view doing);

  ConvolutionProblem problem_;
  ReluFirst relu_first_;
  cudnnHandle_t cudnn_;
  cudaStream_t stream_;
  cudnnConvolutionFwdAlgo_t algorithm_;
  bool fused_;
  TensorDescriptor input_, output_, bias_;
  FilterDescriptor filter_;
  ConvolutionDescriptor convolution_;
  ActivationDescriptor activation_;
  std::unique_ptr<DeviceBlock> no_bias_;  // zeros, if it is fused and the problem has none
  std::size_t own_bytes_ = 0;
};

/// The descriptors of a problem, as all of cuDNN's calls need them.
struct Descriptors {
  TensorDescriptor input, output, bias;
  FilterDescriptor filter;
  ConvolutionDescriptor convolution;
};

constexpr const char* kDescribing = "describing a convolution";

TensorDescriptor nhwc(cudnnDataType_t type, int images, int height, int width, int channels) {
  auto descriptor = make<TensorDescriptor>(kDescribing, cudnnCreateTensorDescriptor);
  HIOS_CUDA(cudnnSetTensor4dDescriptor(descriptor.get(), CUDNN_TENSOR_NHWC, type, images, channels,
                                       height, width),
            kDescribing);
  return descriptor;
}

Descriptors describe(const ConvolutionProblem& problem, cudnnMathType_t math) {
  const TaskWindow& window = problem.window;
  const cudnnDataType_t type =
      problem.element() == Element::kHalf ? CUDNN_DATA_HALF : CUDNN_DATA_FLOAT;
  Descriptors result;
  result.input = nhwc(type, window.images, window.height, window.width, window.channels);
  result.output =
      nhwc(type, window.images, window.out_height, window.out_width, window.out_channels);
  result.bias = nhwc(type, 1, 1, 1, window.out_channels);
  result.filter = make<FilterDescriptor>(kDescribing, cudnnCreateFilterDescriptor);
  HIOS_CUDA(cudnnSetFilter4dDescriptor(result.filter.get(), type, CUDNN_TENSOR_NHWC,
                                       window.out_channels, window.channels / problem.groups,
                                       window.kernel_h, window.kernel_w),
            kDescribing);
  result.convolution = make<ConvolutionDescriptor>(kDescribing, cudnnCreateConvolutionDescriptor);
  const cudnnConvolutionDescriptor_t convolution = result.convolution.get();
  HIOS_CUDA(cudnnSetConvolution2dDescriptor(
                convolution, window.pad_h, window.pad_w, window.stride_h, window.stride_w,
                window.dilation_h, window.dilation_w, CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT),
            kDescribing);
  HIOS_CUDA(cudnnSetConvolutionGroupCount(convolution, problem.groups), kDescribing);
  HIOS_CUDA(cudnnSetConvolutionMathType(convolution, math), kDescribing);
  return result;
}

CudnnConvolution::CudnnConvolution(const ConvolutionProblem& problem, const ConvolutionTools& tools,
                                   cudnnConvolutionFwdAlgo_t algorithm, cudnnMathType_t math,
                                   bool fused)
    : problem_(problem),
      relu_first_(problem),
      cudnn_(tools.stream.cudnn()),
      stream_(tools.stream.stream()),
      algorithm_(algorithm),
      fused_(fused) {
  Descriptors descriptors = describe(problem, math);
  input_ = std::move(descriptors.input);
  output_ = std::move(descriptors.output);
  bias_ = std::move(descriptors.bias);
  filter_ = std::move(descriptors.filter);
  convolution_ = std::move(descriptors.convolution);
  activation_ = make<ActivationDescriptor>(kDescribing, cudnnCreateActivationDescriptor);
  HIOS_CUDA(
      cudnnSetActivationDescriptor(
          activation_.get(), problem.relu_after ? CUDNN_ACTIVATION_RELU : CUDNN_ACTIVATION_IDENTITY,
          CUDNN_NOT_PROPAGATE_NAN, 0.0),
      kDescribing);
  HIOS_CUDA(cudnnGetConvolutionForwardWorkspaceSize(cudnn_, input_.get(), filter_.get(),
                                                    convolution_.get(), output_.get(), algorithm_,
                                                    &own_bytes_),
            kDescribing);
  if (fused && !problem.bias) {
    const Bytes size_bytes =
        static_cast<Bytes>(problem.window.out_channels) * size_of(problem.element());
    no_bias_ = std::make_unique<DeviceBlock>(size_bytes, "the bias of a convolution without one");
    HIOS_CUDA(cudaMemsetAsync(no_bias_->data(), 0, size_bytes, stream_), kDescribing);
  }
}

void CudnnConvolution::queue(const ConvolutionOperands& operands, std::byte* workspace,
                             std::string_view doing) {
  const void* input = relu_first_.queue(operands.input, workspace, stream_, doing);
  workspace += relu_first_.workspace_bytes();
  if (fused_) {
    queue_fused(input, operands, workspace, doing);
  } else {
    queue_plain(input, operands, workspace, doing);
  }
}

void CudnnConvolution::queue_fused(const void* input, const ConvolutionOperands& operands,
                                   std::byte* workspace, std::string_view doing) {
  const float one = 1.0f, zero = 0.0f;
  const void* const bias = operands.bias != nullptr ? operands.bias : no_bias_->data();
  HIOS_CUDA(
      cudnnConvolutionBiasActivationForward(
          cudnn_, &one, input_.get(), input, filter_.get(), operands.weights, convolution_.get(),
          algorithm_, workspace, own_bytes_, &zero, output_.get(), operands.output, bias_.get(),
          bias, activation_.get(), output_.get(), operands.output),
      doing);
}

void CudnnConvolution::queue_plain(const void* input, const ConvolutionOperands& operands,
                                   std::byte* workspace, std::string_view doing) {
  const float one = 1.0f, zero = 0.0f;
  HIOS_CUDA(cudnnConvolutionForward(cudnn_, &one, input_.get(), input, filter_.get(),
                                    operands.weights, convolution_.get(), algorithm_, workspace,
                                    own_bytes_, &zero, output_.get(), operands.output),
            doing);
  queue_bias_and_relu(problem_, operands, stream_, doing);
}

/// Returns the math type for cuDNN's heuristic. In fp32 the default would let it round to TF32.
cudnnMathType_t usual_math(Precision precision) {
  return precision == Precision::kFp32 ? CUDNN_FMA_MATH : CUDNN_DEFAULT_MATH;
}

/// Returns the math types in which to try an algorithm that cuDNN proposes. In fp32 always without
/// tensor cores, which the descriptor enforces, whatever the proposal says: an algorithm that is
/// listed for tensor cores alone may work without. For halves it proposes either with or without
/// tensor cores; the other is worth a trial, too.
std::vector<cudnnMathType_t> maths_to_try(Precision precision, cudnnMathType_t proposed) {
  switch (precision) {
    case Precision::kFp32:
      return {CUDNN_FMA_MATH};
    case Precision::kTf32:
      return {proposed};
    default:
      return {CUDNN_TENSOR_OP_MATH, CUDNN_DEFAULT_MATH};
  }
}

std::vector<ComputedPart> parts(const ConvolutionProblem& problem) {
  return {{problem.before_addend()}};
}

std::vector<std::string> candidates(const ConvolutionProblem& problem,
                                    const ConvolutionTools& tools, bool deterministic) {
  if (!problem.evenly_padded()) return {};
  const Descriptors descriptors = describe(problem, usual_math(problem.precision));
  std::array<cudnnConvolutionFwdAlgoPerf_t, 2 * CUDNN_CONVOLUTION_FWD_ALGO_COUNT> found;
  int count = 0;
  HIOS_CUDA(cudnnGetConvolutionForwardAlgorithm_v7(
                tools.stream.cudnn(), descriptors.input.get(), descriptors.filter.get(),
                descriptors.convolution.get(), descriptors.output.get(), int{found.size()}, &count,
                found.data()),
            kProposing);
  std::vector<std::string> names;
  const auto add = [&](const std::string& name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  };
  for (int i = 0; i < count; ++i) {
    const cudnnConvolutionFwdAlgoPerf_t& one = found[static_cast<std::size_t>(i)];
    if (one.status != CUDNN_STATUS_SUCCESS || one.memory > kMaxWorkspaceBytes) continue;
    if (deterministic && one.determinism != CUDNN_DETERMINISTIC) continue;
    for (const cudnnMathType_t math : maths_to_try(problem.precision, one.mathType)) {
      const std::string name =
          "cudnn " + std::to_string(one.algo) + " " + std::to_string(math) + " ";
      add(name + "plain");
      add(name + "fused");
    }
  }
  return names;
}

std::unique_ptr<ConvolutionAlgorithm> make(const std::string& name,
                                           const ConvolutionProblem& problem,
                                           const ConvolutionTools& tools) {
  const std::vector<std::string> words = words_of(name);
  if (words.size() != 3 || (words[2] != "fused" && words[2] != "plain")) refuse_name(name);
  if (!problem.evenly_padded()) {
    throw RunError("cuDNN's older calls pad all sides alike, which " + problem.key() + " does not");
  }
  const int algorithm = number_of(words[0], name), math = number_of(words[1], name);
  if (algorithm >= CUDNN_CONVOLUTION_FWD_ALGO_COUNT || math >= kMathCount) refuse_name(name);
  return std::make_unique<CudnnConvolution>(
      problem, tools, static_cast<cudnnConvolutionFwdAlgo_t>(algorithm),
      static_cast<cudnnMathType_t>(math), words[2] == "fused");
}

}  // namespace

const ConvolutionFamily kCudnnConvolutions{"cudnn", parts, candidates, make};

}  // namespace hios::cuda
