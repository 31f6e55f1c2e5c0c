// cuDNN's older calls. Three algorithms: sums in order; the same in lanes with a workspace, the
// only one that fuses a bias without a relu; and one whose bits differ from run to run, which it
// only says.
#include "support/emulated_cuda/cudnn.h"

#include <algorithm>
#include <cstdio>

#include "support/emulated_cuda/libraries/convolve.h"
#include "support/emulated_cuda/libraries/cudnn_handle.h"
#include "support/emulated_cuda/runtime/settings.h"

struct EmulatedTensor {
  cudnnDataType_t type;
  int images, channels, height, width;
};
struct EmulatedFilter {
  cudnnDataType_t type;
  int outputs, inputs, height, width;
};
struct EmulatedConvolution {
  int pad_h, pad_w, stride_h, stride_w, dilation_h, dilation_w;
  int groups = 1;
  cudnnMathType_t math = CUDNN_DEFAULT_MATH;
};
struct EmulatedActivation {
  cudnnActivationMode_t mode;
};

using hios::cuda_emulation::Convolution;
using hios::cuda_emulation::queue_convolution;
using hios::cuda_emulation::settings;

namespace {

constexpr std::size_t kWorkspaceBytes = 1536;

template <class Descriptor>
cudnnStatus_t make(Descriptor** descriptor) {
  *descriptor = new Descriptor{};
  return CUDNN_STATUS_SUCCESS;
}
template <class Descriptor>
cudnnStatus_t destroy(Descriptor* descriptor) {
  delete descriptor;
  return CUDNN_STATUS_SUCCESS;
}

int extent_after(int extent, int pad, int kernel, int dilation, int stride) {
  return (extent + 2 * pad - (kernel - 1) * dilation - 1) / stride + 1;
}

/// Describes the convolution; returns false if the descriptors do not agree.
bool describe(const EmulatedTensor& input, const EmulatedFilter& filter,
              const EmulatedConvolution& convolution, const EmulatedTensor& output,
              Convolution& result) {
  const EmulatedConvolution& by = convolution;
  if (input.type != filter.type || input.type != output.type || input.images != output.images ||
      input.channels != filter.inputs * by.groups || filter.outputs % by.groups != 0 ||
      filter.outputs != output.channels ||
      output.height !=
          extent_after(input.height, by.pad_h, filter.height, by.dilation_h, by.stride_h) ||
      output.width !=
          extent_after(input.width, by.pad_w, filter.width, by.dilation_w, by.stride_w)) {
    return false;
  }
  result = {input.images,  input.height,  input.width,     input.channels,
            output.height, output.width,  output.channels, filter.height,
            filter.width,  by.stride_h,   by.stride_w,     by.pad_h,
            by.pad_w,      by.dilation_h, by.dilation_w,   by.groups};
  result.halves = input.type == CUDNN_DATA_HALF;
  return true;
}

void choose_arithmetic(cudnnConvolutionFwdAlgo_t algorithm, cudnnMathType_t math,
                       Convolution& convolution) {
  convolution.lanes = algorithm == CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM ? 8 : 4;
  convolution.rounds_to_tf32 = !convolution.halves && math != CUDNN_FMA_MATH &&
                               algorithm == CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM;
}

std::size_t workspace_of(cudnnConvolutionFwdAlgo_t algorithm) {
  return algorithm == CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM ? kWorkspaceBytes : 0;
}

cudnnStatus_t forward(cudnnHandle_t handle, Convolution convolution, cudnnMathType_t math,
                      cudnnConvolutionFwdAlgo_t algorithm,
                      const hios::cuda_emulation::ConvolutionData& data) {
  if (algorithm > CUDNN_CONVOLUTION_FWD_ALGO_GEMM) return CUDNN_STATUS_NOT_SUPPORTED;
  if (data.workspace_bytes < workspace_of(algorithm)) return CUDNN_STATUS_BAD_PARAM;
  choose_arithmetic(algorithm, math, convolution);
  const std::string name = "cudnn " + std::to_string(algorithm);
  return queue_convolution(name.c_str(), convolution, data, handle->stream) == cudaSuccess
             ? CUDNN_STATUS_SUCCESS
             : CUDNN_STATUS_EXECUTION_FAILED;
}

}  // namespace

std::size_t cudnnGetVersion() { return 91900; }
std::size_t cudnnGetCudartVersion() { return CUDART_VERSION; }

const char* cudnnGetErrorString(cudnnStatus_t status) {
  switch (status) {
    case CUDNN_STATUS_SUCCESS:
      return "CUDNN_STATUS_SUCCESS";
    case CUDNN_STATUS_BAD_PARAM:
      return "CUDNN_STATUS_BAD_PARAM";
    case CUDNN_STATUS_NOT_SUPPORTED:
      return "CUDNN_STATUS_NOT_SUPPORTED";
    default:
      return "CUDNN_STATUS_EXECUTION_FAILED";
  }
}

void cudnnGetLastErrorString(char* text, std::size_t size) {
  std::snprintf(text, size, "an emulated failure");
}

cudnnStatus_t cudnnCreate(cudnnHandle_t* handle) { return make(handle); }
cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t stream) {
  handle->stream = stream;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnDestroy(cudnnHandle_t handle) { return destroy(handle); }

cudnnStatus_t cudnnCreateTensorDescriptor(cudnnTensorDescriptor_t* descriptor) {
  return make(descriptor);
}
cudnnStatus_t cudnnSetTensor4dDescriptor(cudnnTensorDescriptor_t descriptor,
                                         cudnnTensorFormat_t format, cudnnDataType_t type,
                                         int images, int channels, int height, int width) {
  if (format != CUDNN_TENSOR_NHWC) return CUDNN_STATUS_NOT_SUPPORTED;
  *descriptor = {type, images, channels, height, width};
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnDestroyTensorDescriptor(cudnnTensorDescriptor_t descriptor) {
  return destroy(descriptor);
}
cudnnStatus_t cudnnCreateFilterDescriptor(cudnnFilterDescriptor_t* descriptor) {
  return make(descriptor);
}
cudnnStatus_t cudnnSetFilter4dDescriptor(cudnnFilterDescriptor_t descriptor, cudnnDataType_t type,
                                         cudnnTensorFormat_t format, int outputs, int inputs,
                                         int height, int width) {
  if (format != CUDNN_TENSOR_NHWC) return CUDNN_STATUS_NOT_SUPPORTED;
  *descriptor = {type, outputs, inputs, height, width};
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnDestroyFilterDescriptor(cudnnFilterDescriptor_t descriptor) {
  return destroy(descriptor);
}
cudnnStatus_t cudnnCreateConvolutionDescriptor(cudnnConvolutionDescriptor_t* descriptor) {
  return make(descriptor);
}
cudnnStatus_t cudnnSetConvolution2dDescriptor(cudnnConvolutionDescriptor_t descriptor, int pad_h,
                                              int pad_w, int stride_h, int stride_w, int dilation_h,
                                              int dilation_w, cudnnConvolutionMode_t mode,
                                              cudnnDataType_t compute_type) {
  if (mode != CUDNN_CROSS_CORRELATION || compute_type != CUDNN_DATA_FLOAT) {
    return CUDNN_STATUS_NOT_SUPPORTED;
  }
  *descriptor = {pad_h, pad_w, stride_h, stride_w, dilation_h, dilation_w};
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetConvolutionGroupCount(cudnnConvolutionDescriptor_t descriptor, int groups) {
  descriptor->groups = groups;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetConvolutionMathType(cudnnConvolutionDescriptor_t descriptor,
                                          cudnnMathType_t math) {
  descriptor->math = math;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnDestroyConvolutionDescriptor(cudnnConvolutionDescriptor_t descriptor) {
  return destroy(descriptor);
}
cudnnStatus_t cudnnCreateActivationDescriptor(cudnnActivationDescriptor_t* descriptor) {
  return make(descriptor);
}
cudnnStatus_t cudnnSetActivationDescriptor(cudnnActivationDescriptor_t descriptor,
                                           cudnnActivationMode_t mode, cudnnNanPropagation_t,
                                           double) {
  descriptor->mode = mode;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnDestroyActivationDescriptor(cudnnActivationDescriptor_t descriptor) {
  return destroy(descriptor);
}

cudnnStatus_t cudnnGetConvolutionForwardAlgorithm_v7(cudnnHandle_t, cudnnTensorDescriptor_t input,
                                                     cudnnFilterDescriptor_t filter,
                                                     cudnnConvolutionDescriptor_t convolution,
                                                     cudnnTensorDescriptor_t output, int wanted,
                                                     int* count,
                                                     cudnnConvolutionFwdAlgoPerf_t* found) {
  Convolution described;
  *count = 0;
  if (!settings().libraries) return CUDNN_STATUS_NOT_SUPPORTED;
  if (!describe(*input, *filter, *convolution, *output, described)) return CUDNN_STATUS_BAD_PARAM;
  const cudnnMathType_t math = described.halves ? CUDNN_TENSOR_OP_MATH : convolution->math;
  const cudnnConvolutionFwdAlgoPerf_t all[] = {
      {CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM, CUDNN_STATUS_SUCCESS, kWorkspaceBytes,
       CUDNN_DETERMINISTIC, math},
      {CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM, CUDNN_STATUS_SUCCESS, 0, CUDNN_DETERMINISTIC,
       math},
      {CUDNN_CONVOLUTION_FWD_ALGO_GEMM, CUDNN_STATUS_SUCCESS, 0, CUDNN_NON_DETERMINISTIC, math},
      {CUDNN_CONVOLUTION_FWD_ALGO_COUNT, CUDNN_STATUS_NOT_SUPPORTED, 0, CUDNN_DETERMINISTIC, math}};
  for (const cudnnConvolutionFwdAlgoPerf_t& one : all) {
    if (*count < wanted) found[(*count)++] = one;
  }
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetConvolutionForwardWorkspaceSize(cudnnHandle_t, cudnnTensorDescriptor_t input,
                                                      cudnnFilterDescriptor_t filter,
                                                      cudnnConvolutionDescriptor_t convolution,
                                                      cudnnTensorDescriptor_t output,
                                                      cudnnConvolutionFwdAlgo_t algorithm,
                                                      std::size_t* size_bytes) {
  Convolution described;
  if (!describe(*input, *filter, *convolution, *output, described)) return CUDNN_STATUS_BAD_PARAM;
  if (algorithm > CUDNN_CONVOLUTION_FWD_ALGO_GEMM) return CUDNN_STATUS_NOT_SUPPORTED;
  *size_bytes = workspace_of(algorithm);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnConvolutionForward(cudnnHandle_t handle, const void*,
                                      cudnnTensorDescriptor_t input, const void* input_data,
                                      cudnnFilterDescriptor_t filter, const void* weights,
                                      cudnnConvolutionDescriptor_t convolution,
                                      cudnnConvolutionFwdAlgo_t algorithm, void* workspace,
                                      std::size_t workspace_bytes, const void*,
                                      cudnnTensorDescriptor_t output, void* output_data) {
  Convolution described;
  if (!describe(*input, *filter, *convolution, *output, described)) return CUDNN_STATUS_BAD_PARAM;
  return forward(handle, described, convolution->math, algorithm,
                 {input_data, weights, nullptr, output_data, workspace, workspace_bytes});
}

cudnnStatus_t cudnnConvolutionBiasActivationForward(
    cudnnHandle_t handle, const void*, cudnnTensorDescriptor_t input, const void* input_data,
    cudnnFilterDescriptor_t filter, const void* weights, cudnnConvolutionDescriptor_t convolution,
    cudnnConvolutionFwdAlgo_t algorithm, void* workspace, std::size_t workspace_bytes, const void*,
    cudnnTensorDescriptor_t, const void*, cudnnTensorDescriptor_t bias, const void* bias_data,
    cudnnActivationDescriptor_t activation, cudnnTensorDescriptor_t output, void* output_data) {
  Convolution described;
  if (!describe(*input, *filter, *convolution, *output, described) ||
      bias->channels != output->channels || bias->type != output->type) {
    return CUDNN_STATUS_BAD_PARAM;
  }
  if (activation->mode == CUDNN_ACTIVATION_IDENTITY &&
      algorithm != CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM) {
    return CUDNN_STATUS_NOT_SUPPORTED;
  }
  described.bias = true;
  described.relu = activation->mode == CUDNN_ACTIVATION_RELU;
  return forward(handle, described, convolution->math, algorithm,
                 {input_data, weights, bias_data, output_data, workspace, workspace_bytes});
}
