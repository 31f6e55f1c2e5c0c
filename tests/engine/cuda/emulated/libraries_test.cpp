// The emulated cuDNN and cuBLASLt find what NVIDIA's would not forgive: workspaces that are too
// small or not there, and operands on other addresses than they were promised. Each call here is
// right but for one thing.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdlib>
#include <functional>
#include <string>
#include <type_traits>

#include <cublasLt.h>
#include <cuda_runtime_api.h>
#include <cudnn.h>

namespace hios {
namespace {

constexpr int kChannels = 8, kOutputs = 16, kPixels = 4;
constexpr std::size_t kBlockBytes = 8192;

/// The operands of a call: a pointwise convolution, and a product of the same matrices.
struct Operands {
  std::byte* input = nullptr;
  std::byte* weights = nullptr;
  std::byte* output = nullptr;
  std::byte* workspace = nullptr;
  std::size_t workspace_bytes = kBlockBytes;
};

/// Refused: not even queued.
enum class Answer { kRight = 10, kRefused, kFault };

class Convolution {
 public:
  Convolution() {
    cudnnCreate(&handle_);
    cudnnCreateTensorDescriptor(&input_);
    cudnnCreateTensorDescriptor(&output_);
    cudnnCreateFilterDescriptor(&filter_);
    cudnnCreateConvolutionDescriptor(&convolution_);
    cudnnSetTensor4dDescriptor(input_, CUDNN_TENSOR_NHWC, CUDNN_DATA_FLOAT, 1, kChannels, 1,
                               kPixels);
    cudnnSetTensor4dDescriptor(output_, CUDNN_TENSOR_NHWC, CUDNN_DATA_FLOAT, 1, kOutputs, 1,
                               kPixels);
    cudnnSetFilter4dDescriptor(filter_, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NHWC, kOutputs, kChannels, 1,
                               1);
    cudnnSetConvolution2dDescriptor(convolution_, 0, 0, 1, 1, 1, 1, CUDNN_CROSS_CORRELATION,
                                    CUDNN_DATA_FLOAT);
  }
  ~Convolution() {
    cudnnDestroyConvolutionDescriptor(convolution_);
    cudnnDestroyFilterDescriptor(filter_);
    cudnnDestroyTensorDescriptor(output_);
    cudnnDestroyTensorDescriptor(input_);
    cudnnDestroy(handle_);
  }

  bool queue(const Operands& on, cudaStream_t stream) {
    constexpr float kOne = 1, kZero = 0;
    cudnnSetStream(handle_, stream);
    return cudnnConvolutionForward(handle_, &kOne, input_, on.input, filter_, on.weights,
                                   convolution_, CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM,
                                   on.workspace, on.workspace_bytes, &kZero, output_,
                                   on.output) == CUDNN_STATUS_SUCCESS;
  }

 private:
  cudnnHandle_t handle_ = nullptr;
  cudnnTensorDescriptor_t input_ = nullptr, output_ = nullptr;
  cudnnFilterDescriptor_t filter_ = nullptr;
  cudnnConvolutionDescriptor_t convolution_ = nullptr;
};

class Product {
 public:
  Product() {
    const cublasOperation_t transposed = CUBLAS_OP_T;
    cublasLtCreate(&handle_);
    cublasLtMatmulDescCreate(&product_, CUBLAS_COMPUTE_32F, CUDA_R_32F);
    cublasLtMatmulDescSetAttribute(product_, CUBLASLT_MATMUL_DESC_TRANSA, &transposed,
                                   sizeof(transposed));
    cublasLtMatrixLayoutCreate(&weights_, CUDA_R_32F, kChannels, kOutputs, kChannels);
    cublasLtMatrixLayoutCreate(&input_, CUDA_R_32F, kChannels, kPixels, kChannels);
    cublasLtMatrixLayoutCreate(&output_, CUDA_R_32F, kOutputs, kPixels, kOutputs);
    cublasLtMatmulPreferenceCreate(&preference_);
    cublasLtMatmulPreferenceSetAttribute(preference_, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                         &kBlockBytes, sizeof(kBlockBytes));
  }
  ~Product() {
    cublasLtMatmulPreferenceDestroy(preference_);
    for (cublasLtMatrixLayout_t const layout : {weights_, input_, output_}) {
      cublasLtMatrixLayoutDestroy(layout);
    }
    cublasLtMatmulDescDestroy(product_);
    cublasLtDestroy(handle_);
  }

  bool queue(const Operands& on, cudaStream_t stream) {
    constexpr float kOne = 1, kZero = 0;
    cublasLtMatmulHeuristicResult_t found[8];
    int count = 0, chosen = -1;
    cublasLtMatmulAlgoGetHeuristic(handle_, product_, weights_, input_, output_, output_,
                                   preference_, 8, found, &count);
    for (int i = 0; i < count; ++i) {
      if (found[i].workspaceSize > 0) chosen = i;
    }
    EXPECT_GE(chosen, 0) << "no algorithm has a workspace";
    return chosen >= 0 &&
           cublasLtMatmul(handle_, product_, &kOne, on.weights, weights_, on.input, input_, &kZero,
                          on.output, output_, on.output, output_, &found[chosen].algo, on.workspace,
                          on.workspace_bytes, stream) == CUBLAS_STATUS_SUCCESS;
  }

 private:
  cublasLtHandle_t handle_ = nullptr;
  cublasLtMatmulDesc_t product_ = nullptr;
  cublasLtMatrixLayout_t weights_ = nullptr, input_ = nullptr, output_ = nullptr;
  cublasLtMatmulPreference_t preference_ = nullptr;
};

/// Makes a call whose operands the function changes.
template <class Call>
Answer answer_of(const std::function<void(Operands&)>& change) {
  Operands operands;
  cudaStream_t stream = nullptr;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  for (std::byte** const block :
       {&operands.input, &operands.weights, &operands.output, &operands.workspace}) {
    cudaMalloc(reinterpret_cast<void**>(block), kBlockBytes);
    cudaMemsetAsync(*block, 0, kBlockBytes, stream);
  }
  change(operands);
  Call call;
  if (!call.queue(operands, stream)) return Answer::kRefused;
  return cudaStreamSynchronize(stream) == cudaSuccess ? Answer::kRight : Answer::kFault;
}

template <class Call>
class EmulatedLibrary : public testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }

  /// Errors of a device stay in its process, so each call has one of its own.
  static void expect(Answer answer, const std::function<void(Operands&)>& change) {
    EXPECT_EXIT(std::exit(static_cast<int>(answer_of<Call>(change))),
                testing::ExitedWithCode(static_cast<int>(answer)), "");
  }
};

struct LibraryNames {
  template <class Call>
  static std::string GetName(int) {
    return std::is_same_v<Call, Convolution> ? "Cudnn" : "CublasLt";
  }
};

using Calls = testing::Types<Convolution, Product>;
TYPED_TEST_SUITE(EmulatedLibrary, Calls, LibraryNames);

TYPED_TEST(EmulatedLibrary, TakesWhatItWasPromised) {
  this->expect(Answer::kRight, [](Operands&) {});
  this->expect(Answer::kRight, [](Operands& on) { on.input += 16; });
}

TYPED_TEST(EmulatedLibrary, RefusesAWorkspaceThatIsTooSmall) {
  this->expect(Answer::kRefused, [](Operands& on) { on.workspace_bytes = 1024; });
}

TYPED_TEST(EmulatedLibrary, FindsAWorkspaceThatIsNotWhollyThere) {
  this->expect(Answer::kFault, [](Operands& on) { on.workspace = nullptr; });
  this->expect(Answer::kFault, [](Operands& on) { on.workspace += 16; });  // it ends past its block
}

TYPED_TEST(EmulatedLibrary, FindsOperandsOnOtherAddressesThanPromised) {
  this->expect(Answer::kFault, [](Operands& on) { on.input += 4; });
  this->expect(Answer::kFault, [](Operands& on) { on.weights += 8; });
  this->expect(Answer::kFault, [](Operands& on) { on.output += 4; });
}

TYPED_TEST(EmulatedLibrary, FindsOperandsPastTheirBlocks) {
  this->expect(Answer::kFault, [](Operands& on) { on.output += kBlockBytes - 16; });
}

}  // namespace
}  // namespace hios
