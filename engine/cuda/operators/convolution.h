#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/cuda/device/gpu.h"
#include "engine/cuda/device/streams.h"
#include "engine/cuda/kernels/kernels.h"

/// Convolutions that are not depthwise: several algorithms for each, under one interface.
namespace hios::cuda {

/// The alignment in bytes of all operands that kernels and libraries are given, at least.
inline constexpr std::size_t kOperandAlignment = 16;

/// Returns the element of tensors and weights.
constexpr Element element_of(Precision precision) {
  return precision == Precision::kFp16 ? Element::kHalf : Element::kFloat;
}

/// A convolution with what is fused: relu?, convolution, bias?, addend?, then a relu or another
/// function or neither.
struct ConvolutionProblem {
  TaskWindow window;
  int groups = 1;
  bool bias = false, relu_before = false, relu_after = false;
  Precision precision = Precision::kFp32;
  bool addend = false;                   ///< a tensor like the output is added
  std::optional<Unary> activation = {};  ///< another function than a relu, at the end

  Element element() const { return element_of(precision); }
  bool pointwise() const;  ///< one tap, no padding, one group, every pixel
  /// Return the padding at the bottom and on the right, for libraries that need the number. It
  /// equals that at the top or left if the output's size results from it; else it is the least that
  /// gives the output.
  int end_pad_h() const;
  int end_pad_w() const;
  bool evenly_padded() const;  ///< the same after as before
  /// Returns the problem without the function at the end, unless that is a relu.
  ConvolutionProblem before_activation() const;
  /// Returns the problem up to the addend: without it and all after it, if it has one; else
  /// before_activation().
  ConvolutionProblem before_addend() const;
  int pixels() const { return window.images * window.out_height * window.out_width; }
  std::size_t input_values() const;
  std::size_t weight_values() const;
  std::size_t output_values() const;
  /// Returns a text, equal for equal problems: "conv 1x35x35x192 -> 35x35x64 k1x1 s1x1 p0x0 g1 b
  /// fp32"; with " d2x2" after the groups if taps are two apart, and " add Clip(0,6)" before the
  /// precision for an addend and a function. The output's extent determines the padding after the
  /// input.
  std::string key() const;
};

/// The operands of one convolution, all with the problem's element: NHWC, weights as in
/// UploadedWeights; bias and addend null if there is none.
struct ConvolutionOperands {
  const void* input;
  const void* weights;
  const void* bias;
  void* output;
  const void* addend = nullptr;
};

/// An algorithm for one problem on one stream.
class ConvolutionAlgorithm {
 public:
  virtual ~ConvolutionAlgorithm() = default;
  /// Returns the workspace that queue() needs.
  virtual Bytes workspace_bytes() const = 0;
  /// Queues the work and does not wait; allocates no device memory, and no memory at all for
  /// tensors that it has seen. Throws RunError that begins with `doing`.
  virtual void queue(const ConvolutionOperands& operands, std::byte* workspace,
                     std::string_view doing) = 0;
};

/// Everything algorithms are made with; all of it outlives them.
struct ConvolutionTools {
  const Gpu& gpu;
  StreamState& stream;
  cublasLtHandle_t lt;
};

inline constexpr const char* kProposing = "asking for algorithms";

/// The part of a problem that some algorithms of a family compute. The rest of it, an addend or a
/// function, is a pass of ours.
struct ComputedPart {
  ConvolutionProblem problem;
  std::string_view suffix = {};  ///< the names of these algorithms end with it
};

/// A family of algorithms. A candidate's name begins with the family's and a space. It suffices to
/// make the same algorithm, with the same arithmetic in the same order, on any rank with the same
/// libraries and kind of GPU.
struct ConvolutionFamily {
  std::string_view name;
  /// Returns the parts of a problem that the family computes. The first one has no suffix.
  std::vector<ComputedPart> (*parts)(const ConvolutionProblem&);
  /// `candidates` and `make` are given one of these parts as the problem. `candidates` throws
  /// RunError with the library's reason if it proposes none.
  std::vector<std::string> (*candidates)(const ConvolutionProblem&, const ConvolutionTools&,
                                         bool deterministic);
  /// Makes the algorithm. Throws RunError if the name is none of the family's, or the algorithm
  /// cannot compute the problem here.
  std::unique_ptr<ConvolutionAlgorithm> (*make)(const std::string& name, const ConvolutionProblem&,
                                                const ConvolutionTools&);
};
extern const ConvolutionFamily kOwnConvolutions;    ///< our kernel; accepts any problem
extern const ConvolutionFamily kCudnnConvolutions;  ///< cuDNN's, by its legacy calls
extern const ConvolutionFamily kGraphConvolutions;  ///< cuDNN's, as graphs of operations
extern const ConvolutionFamily kLtConvolutions;     ///< pointwise: cuBLASLt's matrix products

/// Returns the candidates of all families, for all parts of the problem that they compute. The
/// reasons of families that propose none are logged (log::verbose).
std::vector<std::string> convolution_candidates(const ConvolutionProblem& problem,
                                                const ConvolutionTools& tools, bool deterministic);
/// Returns true if algorithms of some family begin with these words.
bool is_of_a_family(const std::string& words);
std::unique_ptr<ConvolutionAlgorithm> make_convolution(const std::string& name,
                                                       const ConvolutionProblem& problem,
                                                       const ConvolutionTools& tools);

/// The relu before a convolution, for families without one: computes it into the workspace's first
/// bytes, before the rest.
class ReluFirst {
 public:
  /// Takes from the workspace what `problem` needs: nothing, or the size of the whole input.
  explicit ReluFirst(const ConvolutionProblem& problem) : problem_(problem) {}
  Bytes workspace_bytes() const;
  /// Queues the relu if there is one; returns the input for the convolution.
  const void* queue(const void* input, std::byte* workspace, cudaStream_t stream,
                    std::string_view doing) const;

 private:
  ConvolutionProblem problem_;
};

/// Returns a relu, another function or neither, as kernels take it.
Activation activation_of(bool relu, const std::optional<Unary>& function);

/// Queues bias and relu after a convolution, in place, if the problem has any; for algorithms that
/// omit them.
void queue_bias_and_relu(const ConvolutionProblem& problem, const ConvolutionOperands& operands,
                         cudaStream_t stream, std::string_view doing);

/// Returns the words of a candidate's name after the family's.
std::vector<std::string> words_of(const std::string& name);
/// Throws RunError that the name is not one of the family's.
[[noreturn]] void refuse_name(const std::string& name);
/// Returns a decimal number in a name.
int number_of(const std::string& word, const std::string& name);

}  // namespace hios::cuda
