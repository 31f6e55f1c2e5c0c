#pragma once

#include <cstddef>
#include <cstdint>

#include "cuda_runtime_api.h"

/// Replaces cuDNN's header: the calls that engine/cuda makes, over plain loops
/// (libraries/cudnn.cpp and libraries/cudnn_graph.cpp).
#define CUDNN_MAJOR 9

enum cudnnStatus_t {
  CUDNN_STATUS_SUCCESS,
  CUDNN_STATUS_BAD_PARAM,
  CUDNN_STATUS_NOT_SUPPORTED,
  CUDNN_STATUS_EXECUTION_FAILED
};
enum cudnnDataType_t { CUDNN_DATA_FLOAT, CUDNN_DATA_DOUBLE, CUDNN_DATA_HALF };
enum cudnnTensorFormat_t { CUDNN_TENSOR_NCHW, CUDNN_TENSOR_NHWC };
enum cudnnConvolutionMode_t { CUDNN_CONVOLUTION, CUDNN_CROSS_CORRELATION };
enum cudnnMathType_t {
  CUDNN_DEFAULT_MATH,
  CUDNN_TENSOR_OP_MATH,
  CUDNN_TENSOR_OP_MATH_ALLOW_CONVERSION,
  CUDNN_FMA_MATH
};
enum cudnnActivationMode_t { CUDNN_ACTIVATION_RELU = 1, CUDNN_ACTIVATION_IDENTITY = 5 };
enum cudnnNanPropagation_t { CUDNN_NOT_PROPAGATE_NAN };
enum cudnnDeterminism_t { CUDNN_NON_DETERMINISTIC, CUDNN_DETERMINISTIC };
enum cudnnConvolutionFwdAlgo_t {
  CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM,
  CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM,
  CUDNN_CONVOLUTION_FWD_ALGO_GEMM,
  CUDNN_CONVOLUTION_FWD_ALGO_COUNT = 8
};
struct cudnnConvolutionFwdAlgoPerf_t {
  cudnnConvolutionFwdAlgo_t algo;
  cudnnStatus_t status;
  std::size_t memory;
  cudnnDeterminism_t determinism;
  cudnnMathType_t mathType;
};

using cudnnHandle_t = struct EmulatedCudnn*;
using cudnnTensorDescriptor_t = struct EmulatedTensor*;
using cudnnFilterDescriptor_t = struct EmulatedFilter*;
using cudnnConvolutionDescriptor_t = struct EmulatedConvolution*;
using cudnnActivationDescriptor_t = struct EmulatedActivation*;

std::size_t cudnnGetVersion();
std::size_t cudnnGetCudartVersion();
const char* cudnnGetErrorString(cudnnStatus_t status);
void cudnnGetLastErrorString(char* text, std::size_t size);
cudnnStatus_t cudnnCreate(cudnnHandle_t* handle);
cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t stream);
cudnnStatus_t cudnnDestroy(cudnnHandle_t handle);

cudnnStatus_t cudnnCreateTensorDescriptor(cudnnTensorDescriptor_t* descriptor);
cudnnStatus_t cudnnSetTensor4dDescriptor(cudnnTensorDescriptor_t descriptor,
                                         cudnnTensorFormat_t format, cudnnDataType_t type,
                                         int images, int channels, int height, int width);
cudnnStatus_t cudnnDestroyTensorDescriptor(cudnnTensorDescriptor_t descriptor);
cudnnStatus_t cudnnCreateFilterDescriptor(cudnnFilterDescriptor_t* descriptor);
cudnnStatus_t cudnnSetFilter4dDescriptor(cudnnFilterDescriptor_t descriptor, cudnnDataType_t type,
                                         cudnnTensorFormat_t format, int outputs, int inputs,
                                         int height, int width);
cudnnStatus_t cudnnDestroyFilterDescriptor(cudnnFilterDescriptor_t descriptor);
cudnnStatus_t cudnnCreateConvolutionDescriptor(cudnnConvolutionDescriptor_t* descriptor);
cudnnStatus_t cudnnSetConvolution2dDescriptor(cudnnConvolutionDescriptor_t descriptor, int pad_h,
                                              int pad_w, int stride_h, int stride_w, int dilation_h,
                                              int dilation_w, cudnnConvolutionMode_t mode,
                                              cudnnDataType_t compute_type);
cudnnStatus_t cudnnSetConvolutionGroupCount(cudnnConvolutionDescriptor_t descriptor, int groups);
cudnnStatus_t cudnnSetConvolutionMathType(cudnnConvolutionDescriptor_t descriptor,
                                          cudnnMathType_t math);
cudnnStatus_t cudnnDestroyConvolutionDescriptor(cudnnConvolutionDescriptor_t descriptor);
cudnnStatus_t cudnnCreateActivationDescriptor(cudnnActivationDescriptor_t* descriptor);
cudnnStatus_t cudnnSetActivationDescriptor(cudnnActivationDescriptor_t descriptor,
                                           cudnnActivationMode_t mode, cudnnNanPropagation_t nan,
                                           double limit);
cudnnStatus_t cudnnDestroyActivationDescriptor(cudnnActivationDescriptor_t descriptor);

cudnnStatus_t cudnnGetConvolutionForwardAlgorithm_v7(
    cudnnHandle_t handle, cudnnTensorDescriptor_t input, cudnnFilterDescriptor_t filter,
    cudnnConvolutionDescriptor_t convolution, cudnnTensorDescriptor_t output, int wanted,
    int* count, cudnnConvolutionFwdAlgoPerf_t* found);
cudnnStatus_t cudnnGetConvolutionForwardWorkspaceSize(
    cudnnHandle_t handle, cudnnTensorDescriptor_t input, cudnnFilterDescriptor_t filter,
    cudnnConvolutionDescriptor_t convolution, cudnnTensorDescriptor_t output,
    cudnnConvolutionFwdAlgo_t algorithm, std::size_t* size_bytes);
cudnnStatus_t cudnnConvolutionForward(cudnnHandle_t handle, const void* alpha,
                                      cudnnTensorDescriptor_t input, const void* input_data,
                                      cudnnFilterDescriptor_t filter, const void* weights,
                                      cudnnConvolutionDescriptor_t convolution,
                                      cudnnConvolutionFwdAlgo_t algorithm, void* workspace,
                                      std::size_t workspace_bytes, const void* beta,
                                      cudnnTensorDescriptor_t output, void* output_data);
cudnnStatus_t cudnnConvolutionBiasActivationForward(
    cudnnHandle_t handle, const void* alpha, cudnnTensorDescriptor_t input, const void* input_data,
    cudnnFilterDescriptor_t filter, const void* weights, cudnnConvolutionDescriptor_t convolution,
    cudnnConvolutionFwdAlgo_t algorithm, void* workspace, std::size_t workspace_bytes,
    const void* alpha2, cudnnTensorDescriptor_t addend, const void* addend_data,
    cudnnTensorDescriptor_t bias, const void* bias_data, cudnnActivationDescriptor_t activation,
    cudnnTensorDescriptor_t output, void* output_data);

// Graphs of operations.
enum cudnnBackendDescriptorType_t {
  CUDNN_BACKEND_POINTWISE_DESCRIPTOR,
  CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR,
  CUDNN_BACKEND_ENGINE_DESCRIPTOR,
  CUDNN_BACKEND_ENGINECFG_DESCRIPTOR,
  CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR,
  CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR,
  CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR,
  CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
  CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR,
  CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR,
  CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR,
  CUDNN_BACKEND_TENSOR_DESCRIPTOR,
  CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR
};
enum cudnnBackendAttributeType_t {
  CUDNN_TYPE_HANDLE,
  CUDNN_TYPE_DATA_TYPE,
  CUDNN_TYPE_BOOLEAN,
  CUDNN_TYPE_INT64,
  CUDNN_TYPE_FLOAT,
  CUDNN_TYPE_VOID_PTR,
  CUDNN_TYPE_CONVOLUTION_MODE,
  CUDNN_TYPE_HEUR_MODE,
  CUDNN_TYPE_KNOB_TYPE,
  CUDNN_TYPE_NUMERICAL_NOTE,
  CUDNN_TYPE_BEHAVIOR_NOTE,
  CUDNN_TYPE_CHAR,
  CUDNN_TYPE_POINTWISE_MODE,
  CUDNN_TYPE_BACKEND_DESCRIPTOR
};
enum cudnnBackendAttributeName_t {
  CUDNN_ATTR_POINTWISE_MODE,
  CUDNN_ATTR_POINTWISE_MATH_PREC,
  CUDNN_ATTR_CONVOLUTION_COMP_TYPE,
  CUDNN_ATTR_CONVOLUTION_CONV_MODE,
  CUDNN_ATTR_CONVOLUTION_DILATIONS,
  CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES,
  CUDNN_ATTR_CONVOLUTION_POST_PADDINGS,
  CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS,
  CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS,
  CUDNN_ATTR_ENGINEHEUR_MODE,
  CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH,
  CUDNN_ATTR_ENGINEHEUR_RESULTS,
  CUDNN_ATTR_ENGINEHEUR_DEVICEPROP,
  CUDNN_ATTR_ENGINECFG_ENGINE,
  CUDNN_ATTR_ENGINECFG_KNOB_CHOICES,
  CUDNN_ATTR_EXECUTION_PLAN_HANDLE,
  CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG,
  CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE,
  CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP,
  CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE,
  CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE,
  CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
  CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA,
  CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
  CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
  CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
  CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y,
  CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR,
  CUDNN_ATTR_OPERATION_POINTWISE_XDESC,
  CUDNN_ATTR_OPERATION_POINTWISE_BDESC,
  CUDNN_ATTR_OPERATION_POINTWISE_YDESC,
  CUDNN_ATTR_OPERATIONGRAPH_HANDLE,
  CUDNN_ATTR_OPERATIONGRAPH_OPS,
  CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT,
  CUDNN_ATTR_TENSOR_DATA_TYPE,
  CUDNN_ATTR_TENSOR_DIMENSIONS,
  CUDNN_ATTR_TENSOR_STRIDES,
  CUDNN_ATTR_TENSOR_UNIQUE_ID,
  CUDNN_ATTR_TENSOR_IS_VIRTUAL,
  CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS,
  CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS,
  CUDNN_ATTR_VARIANT_PACK_WORKSPACE,
  CUDNN_ATTR_ENGINE_OPERATION_GRAPH,
  CUDNN_ATTR_ENGINE_GLOBAL_INDEX,
  CUDNN_ATTR_ENGINE_NUMERICAL_NOTE,
  CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE,
  CUDNN_ATTR_ENGINE_DEVICEPROP,
  CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION
};
enum cudnnBackendHeurMode_t { CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_B, CUDNN_HEUR_MODE_FALLBACK };
enum cudnnBackendKnobType_t { CUDNN_KNOB_TYPE_TILE_SIZE = 2, CUDNN_KNOB_TYPE_COUNTS = 8 };
enum cudnnBackendNumericalNote_t {
  CUDNN_NUMERICAL_NOTE_TENSOR_CORE,
  CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS,
  CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION,
  CUDNN_NUMERICAL_NOTE_FFT,
  CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC,
  CUDNN_NUMERICAL_NOTE_WINOGRAD,
  CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_4x4,
  CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_6x6,
  CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_13x13,
  CUDNN_NUMERICAL_NOTE_STRICT_NAN_PROP,
  CUDNN_NUMERICAL_NOTE_TYPE_COUNT
};
enum cudnnBackendBehaviorNote_t {
  CUDNN_BEHAVIOR_NOTE_RUNTIME_COMPILATION,
  CUDNN_BEHAVIOR_NOTE_TYPE_COUNT
};
enum cudnnPointwiseMode_t { CUDNN_POINTWISE_ADD, CUDNN_POINTWISE_RELU_FWD = 100 };

using cudnnBackendDescriptor_t = struct EmulatedDescriptor*;
cudnnStatus_t cudnnBackendCreateDescriptor(cudnnBackendDescriptorType_t type,
                                           cudnnBackendDescriptor_t* descriptor);
cudnnStatus_t cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t descriptor);
cudnnStatus_t cudnnBackendFinalize(cudnnBackendDescriptor_t descriptor);
cudnnStatus_t cudnnBackendSetAttribute(cudnnBackendDescriptor_t descriptor,
                                       cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type, std::int64_t count,
                                       const void* values);
cudnnStatus_t cudnnBackendGetAttribute(cudnnBackendDescriptor_t descriptor,
                                       cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type, std::int64_t most,
                                       std::int64_t* count, void* values);
cudnnStatus_t cudnnBackendExecute(cudnnHandle_t handle, cudnnBackendDescriptor_t plan,
                                  cudnnBackendDescriptor_t operands);
