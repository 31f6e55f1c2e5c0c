// The family kLtConvolutions (convolution.h): pointwise convolutions as matrix products by
// cuBLASLt, which adds the addend, and has bias and relu in its epilogue. Names are "lt ALGORITHM",
// the library's own 64 bytes in hexadecimal; with " gelu" the epilogue is GeluTanh, too. (The
// library's GELU is that approximation.) Any other function is a pass of ours.
//
// A 1x1 convolution of NHWC tensors is Y = X·Wᵀ, with a row for each pixel. cuBLASLt is
// column-major, so it computes Yᵀ = W·Xᵀ, which has the same layout.
#include <array>
#include <cstring>

#include "engine/cuda/device/device.h"
#include "engine/cuda/device/handles.h"
#include "engine/cuda/operators/convolution.h"

namespace hios::cuda {
namespace {

constexpr std::size_t kMaxWorkspaceBytes = std::size_t{32} << 20;
constexpr int kWantedCandidates = 8;
constexpr std::uint32_t kAlignmentBytes = kOperandAlignment;
constexpr const char* kDescribing = "describing a matrix product";
constexpr std::string_view kGelu = " gelu";

/// The descriptors of a product.
struct Product {
  LtMatmulDescriptor operation;
  LtLayout weights, input, output;
};

template <class Value>
void set(cublasLtMatmulDesc_t operation, cublasLtMatmulDescAttributes_t attribute,
         const Value& value) {
  HIOS_CUDA(cublasLtMatmulDescSetAttribute(operation, attribute, &value, sizeof(value)),
            kDescribing);
}

cudaDataType_t data_type(const ConvolutionProblem& problem) {
  return problem.element() == Element::kHalf ? CUDA_R_16F : CUDA_R_32F;
}

LtLayout columns(cudaDataType_t type, int rows, int count) {
  return make<LtLayout>(kDescribing, cublasLtMatrixLayoutCreate, type,
                        static_cast<std::uint64_t>(rows), static_cast<std::uint64_t>(count),
                        static_cast<std::int64_t>(rows));
}

cublasLtEpilogue_t epilogue_of(const ConvolutionProblem& problem) {
  if (problem.activation) {
    return problem.bias ? CUBLASLT_EPILOGUE_GELU_BIAS : CUBLASLT_EPILOGUE_GELU;
  }
  if (problem.relu_after) {
    return problem.bias ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_RELU;
  }
  return problem.bias ? CUBLASLT_EPILOGUE_BIAS : CUBLASLT_EPILOGUE_DEFAULT;
}

Product describe(const ConvolutionProblem& problem) {
  const bool rounds_to_tf32 = problem.precision == Precision::kTf32;
  const cudaDataType_t type = data_type(problem);
  const TaskWindow& window = problem.window;
  Product result;
  result.operation = make<LtMatmulDescriptor>(
      kDescribing, cublasLtMatmulDescCreate,
      rounds_to_tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F, CUDA_R_32F);
  set(result.operation.get(), CUBLASLT_MATMUL_DESC_TRANSA, CUBLAS_OP_T);
  set(result.operation.get(), CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue_of(problem));
  if (problem.bias) set(result.operation.get(), CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, type);
  result.weights = columns(type, window.channels, window.out_channels);
  result.input = columns(type, window.channels, problem.pixels());
  result.output = columns(type, window.out_channels, problem.pixels());
  return result;
}

class LtConvolution final : public ConvolutionAlgorithm {
 public:
  LtConvolution(const ConvolutionProblem& problem, const ConvolutionTools& tools,
                const cublasLtMatmulAlgo_t& algorithm)
      : relu_first_(problem),
        adds_(problem.addend),
        lt_(tools.lt),
        stream_(tools.stream.stream()),
        product_(describe(problem)),
        algorithm_(algorithm) {
    cublasLtMatmulHeuristicResult_t checked;
    HIOS_CUDA(cublasLtMatmulAlgoCheck(lt_, product_.operation.get(), product_.weights.get(),
                                      product_.input.get(), product_.output.get(),
                                      product_.output.get(), &algorithm_, &checked),
              kDescribing);
    own_bytes_ = checked.workspaceSize;
  }

  Bytes workspace_bytes() const override { return relu_first_.workspace_bytes() + own_bytes_; }

  void queue(const ConvolutionOperands& operands, std::byte* workspace,
             std::string_view doing) override {
    const void* input = relu_first_.queue(operands.input, workspace, stream_, doing);
    workspace += relu_first_.workspace_bytes();
    if (operands.bias != nullptr) {
      set(product_.operation.get(), CUBLASLT_MATMUL_DESC_BIAS_POINTER, operands.bias);
    }
    const float one = 1.0f, of_addend = adds_ ? 1.0f : 0.0f;
    HIOS_CUDA(cublasLtMatmul(lt_, product_.operation.get(), &one, operands.weights,
                             product_.weights.get(), input, product_.input.get(), &of_addend,
                             adds_ ? operands.addend : operands.output, product_.output.get(),
                             operands.output, product_.output.get(), &algorithm_, workspace,
                             own_bytes_, stream_),
              doing);
  }

 private:
  ReluFirst relu_first_;
  bool adds_;
  cublasLtHandle_t lt_;
  cudaStream_t stream_;
  Product product_;
  cublasLtMatmulAlgo_t algorithm_;
  std::size_t own_bytes_ = 0;
};

template <class Value>
void prefer(cublasLtMatmulPreference_t preference, cublasLtMatmulPreferenceAttributes_t attribute,
            const Value& value) {
  HIOS_CUDA(cublasLtMatmulPreferenceSetAttribute(preference, attribute, &value, sizeof(value)),
            kDescribing);
}

/// Schemes that add split sums in order, after they were computed in parallel. The excluded scheme
/// adds into the output in turns, without a promise about their order.
constexpr std::uint32_t kOrderedReductions =
    CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE | CUBLASLT_REDUCTION_SCHEME_OUTPUT_TYPE;
/// The scheme that keeps split sums in fp32: in fp16 the other two would round each part to a half.
constexpr std::uint32_t kFp32Reductions = CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;

std::vector<ComputedPart> parts(const ConvolutionProblem& problem) {
  std::vector<ComputedPart> result = {{problem.before_activation()}};
  const bool gelu =
      problem.activation && problem.activation->function == Unary::Function::kGeluTanh;
  if (gelu) result.push_back({problem, kGelu});
  return result;
}

std::vector<std::string> candidates(const ConvolutionProblem& problem,
                                    const ConvolutionTools& tools, bool deterministic) {
  if (!problem.pointwise()) return {};
  const Product product = describe(problem);
  const auto preference = make<LtPreference>(kDescribing, cublasLtMatmulPreferenceCreate);
  prefer(preference.get(), CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, kMaxWorkspaceBytes);
  if (problem.element() == Element::kHalf) {
    prefer(preference.get(), CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, kFp32Reductions);
  } else if (deterministic) {
    prefer(preference.get(), CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, kOrderedReductions);
  }
  for (const auto attribute :
       {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
        CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES}) {
    prefer(preference.get(), attribute, kAlignmentBytes);
  }
  std::array<cublasLtMatmulHeuristicResult_t, kWantedCandidates> found;
  int count = 0;
  HIOS_CUDA(cublasLtMatmulAlgoGetHeuristic(tools.lt, product.operation.get(), product.weights.get(),
                                           product.input.get(), product.output.get(),
                                           product.output.get(), preference.get(),
                                           kWantedCandidates, found.data(), &count),
            kProposing);
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i) {
    const cublasLtMatmulHeuristicResult_t& one = found[static_cast<std::size_t>(i)];
    if (one.state != CUBLAS_STATUS_SUCCESS) continue;
    names.push_back("lt " + to_hex(&one.algo, sizeof(one.algo)) +
                    std::string(problem.activation ? kGelu : ""));
  }
  return names;
}

std::unique_ptr<ConvolutionAlgorithm> make(const std::string& name,
                                           const ConvolutionProblem& problem,
                                           const ConvolutionTools& tools) {
  const std::vector<std::string> words = words_of(name);
  const bool right =
      problem.activation ? words.size() == 2 && name.ends_with(kGelu) : words.size() == 1;
  if (!right || !problem.pointwise()) refuse_name(name);
  cublasLtMatmulAlgo_t algorithm;
  from_hex(words[0], &algorithm, sizeof(algorithm));
  return std::make_unique<LtConvolution>(problem, tools, algorithm);
}

}  // namespace

const ConvolutionFamily kLtConvolutions{"lt", parts, candidates, make};

}  // namespace hios::cuda
