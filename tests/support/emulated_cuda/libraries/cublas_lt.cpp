// cuBLASLt: products of a transposed matrix of weights with a matrix of pixels, as a convolution
// with one tap. Three algorithms: sums in order; sums split and added by the workspace; and sums
// added into the output in turns, which is proposed only to those who allow that scheme.
#include "support/emulated_cuda/cublasLt.h"

#include <cstring>

#include "support/emulated_cuda/libraries/convolve.h"
#include "support/emulated_cuda/runtime/settings.h"

struct EmulatedLt {};
struct EmulatedMatmul {
  cublasComputeType_t compute_type;
  cublasOperation_t transpose = CUBLAS_OP_N;
  cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  const void* bias = nullptr;
  cudaDataType_t bias_type = CUDA_R_32F;
};
struct EmulatedLayout {
  cudaDataType_t type;
  std::uint64_t rows, columns;
  std::int64_t leading;
};
struct EmulatedPreference {
  std::size_t workspace_bytes = 0;
  std::uint32_t schemes = ~0u;
  std::uint32_t alignment = 256;
};

using hios::cuda_emulation::Convolution;
using hios::cuda_emulation::kPromisedAlignment;
using hios::cuda_emulation::settings;

namespace {

/// An algorithm; its 64 bytes begin with its number.
struct Product {
  std::size_t workspace_bytes;
  std::uint32_t scheme;
  int lanes;
};
constexpr Product kProducts[] = {{0, 0, 4},
                                 {4096, CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE, 8},
                                 {0, CUBLASLT_REDUCTION_SCHEME_INPLACE, 2}};
constexpr std::uint64_t kProductCount = sizeof(kProducts) / sizeof(kProducts[0]);

const Product* product_of(const cublasLtMatmulAlgo_t& algorithm) {
  for (std::size_t i = 1; i < 8; ++i) {
    if (algorithm.data[i] != 0x11 * i) return nullptr;
  }
  return algorithm.data[0] < kProductCount ? &kProducts[algorithm.data[0]] : nullptr;
}

/// Describes the product as a convolution; returns false if the matrices do not agree.
bool describe(const EmulatedMatmul& operation, const EmulatedLayout& a, const EmulatedLayout& b,
              const EmulatedLayout& d, Convolution& result) {
  if (operation.transpose != CUBLAS_OP_T || a.type != b.type || a.type != d.type ||
      a.rows != b.rows || d.rows != a.columns || d.columns != b.columns ||
      a.leading != static_cast<std::int64_t>(a.rows) ||
      b.leading != static_cast<std::int64_t>(b.rows) ||
      d.leading != static_cast<std::int64_t>(d.rows)) {
    return false;
  }
  result.images = result.height = result.out_height = 1;
  result.width = result.out_width = static_cast<int>(b.columns);
  result.channels = static_cast<int>(a.rows);
  result.out_channels = static_cast<int>(a.columns);
  result.halves = a.type == CUDA_R_16F;
  result.rounds_to_tf32 = operation.compute_type == CUBLAS_COMPUTE_32F_FAST_TF32;
  result.bias = (operation.epilogue & CUBLASLT_EPILOGUE_BIAS) != 0;
  result.relu = (operation.epilogue & CUBLASLT_EPILOGUE_RELU) != 0;
  result.gelu = (operation.epilogue & CUBLASLT_EPILOGUE_GELU) != 0;
  return !result.bias || operation.bias_type == a.type;
}

template <class Value>
cublasStatus_t set(Value& field, const void* value, std::size_t size_bytes) {
  if (size_bytes != sizeof(field)) return CUBLAS_STATUS_INVALID_VALUE;
  std::memcpy(&field, value, size_bytes);
  return CUBLAS_STATUS_SUCCESS;
}

}  // namespace

std::size_t cublasLtGetVersion() { return 130000; }
std::size_t cublasLtGetCudartVersion() { return CUDART_VERSION; }

const char* cublasLtGetStatusString(cublasStatus_t status) {
  switch (status) {
    case CUBLAS_STATUS_SUCCESS:
      return "CUBLAS_STATUS_SUCCESS";
    case CUBLAS_STATUS_INVALID_VALUE:
      return "CUBLAS_STATUS_INVALID_VALUE";
    case CUBLAS_STATUS_NOT_SUPPORTED:
      return "CUBLAS_STATUS_NOT_SUPPORTED";
    default:
      return "CUBLAS_STATUS_EXECUTION_FAILED";
  }
}

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  *handle = new EmulatedLt;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
  delete handle;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* descriptor,
                                        cublasComputeType_t compute_type, cudaDataType_t) {
  *descriptor = new EmulatedMatmul{compute_type};
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t descriptor,
                                              cublasLtMatmulDescAttributes_t attribute,
                                              const void* value, std::size_t size_bytes) {
  switch (attribute) {
    case CUBLASLT_MATMUL_DESC_TRANSA:
      return set(descriptor->transpose, value, size_bytes);
    case CUBLASLT_MATMUL_DESC_EPILOGUE:
      return set(descriptor->epilogue, value, size_bytes);
    case CUBLASLT_MATMUL_DESC_BIAS_POINTER:
      return set(descriptor->bias, value, size_bytes);
    default:
      return set(descriptor->bias_type, value, size_bytes);
  }
}

cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t descriptor) {
  delete descriptor;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* layout, cudaDataType_t type,
                                          std::uint64_t rows, std::uint64_t columns,
                                          std::int64_t leading) {
  *layout = new EmulatedLayout{type, rows, columns, leading};
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
  delete layout;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* preference) {
  *preference = new EmulatedPreference;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t preference,
                                                    cublasLtMatmulPreferenceAttributes_t attribute,
                                                    const void* value, std::size_t size_bytes) {
  switch (attribute) {
    case CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES:
      return set(preference->workspace_bytes, value, size_bytes);
    case CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK:
      return set(preference->schemes, value, size_bytes);
    default:
      return set(preference->alignment, value, size_bytes);
  }
}

cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) {
  delete preference;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t, cublasLtMatmulDesc_t operation,
                                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t, cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t preference, int wanted,
                                              cublasLtMatmulHeuristicResult_t* found, int* count) {
  *count = 0;
  Convolution convolution;
  if (!settings().libraries) return CUBLAS_STATUS_NOT_SUPPORTED;
  if (!describe(*operation, *a, *b, *d, convolution)) return CUBLAS_STATUS_INVALID_VALUE;
  if (preference->alignment < kPromisedAlignment) return CUBLAS_STATUS_NOT_SUPPORTED;
  for (std::uint64_t i = 0; i < kProductCount && *count < wanted; ++i) {
    const Product& product = kProducts[i];
    const bool allowed = product.scheme == 0 || (product.scheme & preference->schemes) != 0;
    if (!allowed || product.workspace_bytes > preference->workspace_bytes) continue;
    found[(*count)++] = {{{i, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77}},
                         product.workspace_bytes,
                         CUBLAS_STATUS_SUCCESS};
  }
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulAlgoCheck(cublasLtHandle_t, cublasLtMatmulDesc_t operation,
                                       cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                       cublasLtMatrixLayout_t, cublasLtMatrixLayout_t d,
                                       const cublasLtMatmulAlgo_t* algorithm,
                                       cublasLtMatmulHeuristicResult_t* result) {
  Convolution convolution;
  if (!describe(*operation, *a, *b, *d, convolution)) return CUBLAS_STATUS_INVALID_VALUE;
  const Product* const product = product_of(*algorithm);
  if (product == nullptr) return CUBLAS_STATUS_NOT_SUPPORTED;
  *result = {*algorithm, product->workspace_bytes, CUBLAS_STATUS_SUCCESS};
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t, cublasLtMatmulDesc_t operation, const void*,
                              const void* a, cublasLtMatrixLayout_t a_layout, const void* b,
                              cublasLtMatrixLayout_t b_layout, const void* beta, const void* c,
                              cublasLtMatrixLayout_t, void* d, cublasLtMatrixLayout_t d_layout,
                              const cublasLtMatmulAlgo_t* algorithm, void* workspace,
                              std::size_t workspace_bytes, cudaStream_t stream) {
  Convolution convolution;
  if (!describe(*operation, *a_layout, *b_layout, *d_layout, convolution)) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  const Product* const product = product_of(*algorithm);
  if (product == nullptr || workspace_bytes < product->workspace_bytes ||
      (convolution.bias && operation->bias == nullptr)) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  convolution.lanes = product->lanes;
  convolution.addend = *static_cast<const float*>(beta) != 0;
  const std::string name = "lt " + std::to_string(algorithm->data[0]);
  return queue_convolution(name.c_str(), convolution,
                           {b, a, operation->bias, d, workspace, workspace_bytes, c},
                           stream) == cudaSuccess
             ? CUBLAS_STATUS_SUCCESS
             : CUBLAS_STATUS_EXECUTION_FAILED;
}
