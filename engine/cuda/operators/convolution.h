#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/cuda/device/gpu.h"
#include "engine/cuda/device/streams.h"
#include "engine/cuda/kernels/kernels.h"

/// Convolutions that are not depthwise: several ways to compute each, under one interface.
namespace hios::cuda {

/// What tensors and weights are of.
constexpr Element element_of(Precision precision) {
  return precision == Precision::kFp16 ? Element::kHalf : Element::kFloat;
}

/// What is to be computed: relu?, convolution, bias?, relu?.
struct ConvolutionProblem {
  TaskWindow window;
  int groups = 1;
  bool bias = false, relu_before = false, relu_after = false;
  Precision precision = Precision::kFp32;

  Element element() const { return element_of(precision); }
  bool pointwise() const;  ///< one tap, no padding, one group, every pixel
  /// Padding below and on the right. That in front where the output is as large as that makes it,
  /// else as little as does, for libraries that want to be told.
  int end_pad_h() const;
  int end_pad_w() const;
  bool evenly_padded() const;  ///< behind as in front
  int pixels() const { return window.images * window.out_height * window.out_width; }
  std::size_t input_values() const;
  std::size_t weight_values() const;
  std::size_t output_values() const;
  /// Equal texts, equal problems: "conv 1x35x35x192 -> 35x35x64 k1x1 s1x1 p0x0 g1 b fp32"; with
  /// " d2x2" behind the groups where taps are two apart. The output's extent tells what pads
  /// behind.
  std::string key() const;
};

/// The operands of one convolution, all of the problem's element: NHWC, weights as UploadedWeights
/// describes, no bias: null.
struct ConvolutionOperands {
  const void* input;
  const void* weights;
  const void* bias;
  void* output;
};

/// One way to compute one problem on one stream.
class ConvolutionAlgorithm {
 public:
  virtual ~ConvolutionAlgorithm() = default;
  /// What queue() wants of a workspace.
  virtual Bytes workspace_bytes() const = 0;
  /// Only queues; allocates no device memory, and nothing for tensors that it had before. Throws
  /// RunError that begins with `doing`.
  virtual void queue(const ConvolutionOperands& operands, std::byte* workspace,
                     std::string_view doing) = 0;
};

/// What algorithms are made with; all of it outlives them.
struct ConvolutionTools {
  const Gpu& gpu;
  StreamState& stream;
  cublasLtHandle_t lt;
};

/// A family of algorithms. A candidate's name begins with the family's and a space, is all that is
/// needed to make the same algorithm again, on any rank with the same libraries and kind of GPU,
/// and means the same arithmetic in the same order.
struct ConvolutionFamily {
  std::string_view name;
  std::vector<std::string> (*candidates)(const ConvolutionProblem&, const ConvolutionTools&,
                                         bool deterministic);
  /// Throws RunError where the name is none of the family's, or cannot compute the problem here.
  std::unique_ptr<ConvolutionAlgorithm> (*make)(const std::string& name, const ConvolutionProblem&,
                                                const ConvolutionTools&);
};
extern const ConvolutionFamily kOwnConvolutions;    ///< our kernel; takes any problem
extern const ConvolutionFamily kCudnnConvolutions;  ///< cuDNN's, by its older calls
extern const ConvolutionFamily kGraphConvolutions;  ///< cuDNN's, as graphs of operations
extern const ConvolutionFamily kLtConvolutions;     ///< pointwise: cuBLASLt's matrix products

/// Of all families.
std::vector<std::string> convolution_candidates(const ConvolutionProblem& problem,
                                                const ConvolutionTools& tools, bool deterministic);
std::unique_ptr<ConvolutionAlgorithm> make_convolution(const std::string& name,
                                                       const ConvolutionProblem& problem,
                                                       const ConvolutionTools& tools);

/// For families without a relu in front: makes it in the workspace's first bytes, then the rest.
class ReluFirst {
 public:
  /// Of what `problem` wants of it: nothing, or the whole input.
  explicit ReluFirst(const ConvolutionProblem& problem) : problem_(problem) {}
  Bytes workspace_bytes() const;
  /// The input to go on with.
  const void* queue(const void* input, std::byte* workspace, cudaStream_t stream,
                    std::string_view doing) const;

 private:
  ConvolutionProblem problem_;
};

/// For what leaves them out: bias and relu behind a convolution, in place, where the problem has
/// any.
void queue_bias_and_relu(const ConvolutionProblem& problem, const ConvolutionOperands& operands,
                         cudaStream_t stream, std::string_view doing);

/// The words of a candidate's name behind the family's.
std::vector<std::string> words_of(const std::string& name);
/// Throws RunError: not such a name.
[[noreturn]] void refuse_name(const std::string& name);
/// A decimal number in a name.
int number_of(const std::string& word, const std::string& name);

}  // namespace hios::cuda
