#include "engine/cuda/operators/convolution.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <sstream>
#include <utility>

#include "engine/cuda/device/handles.h"
#include "engine/cuda/kernels/layers.h"
#include "hios/base/log.h"
#include "hios/model/layer_fields.h"

namespace hios::cuda {
namespace {

/// Families in the order of the trials.
constexpr std::array kFamilies = {&kOwnConvolutions, &kCudnnConvolutions, &kLtConvolutions,
                                  &kGraphConvolutions};

constexpr Bytes kAlignment = 256;  // alignment of the sections of a workspace

}  // namespace

bool ConvolutionProblem::pointwise() const {
  return window.kernel_h == 1 && window.kernel_w == 1 && window.stride_h == 1 &&
         window.stride_w == 1 && window.pad_h == 0 && window.pad_w == 0 &&
         window.out_height == window.height && window.out_width == window.width && groups == 1;
}

namespace {

/// Returns the padding after an extent that `out` windows need.
int padding_after(int extent, int before, int kernel, int dilation, int stride, int out) {
  const int end = (out - 1) * stride + (kernel - 1) * dilation + 1;  // end of the last window
  const int even = extent + 2 * before - (kernel - 1) * dilation - 1;
  if (even >= 0 && even / stride + 1 == out) return before;
  return std::max(end - extent - before, 0);
}

}  // namespace

int ConvolutionProblem::end_pad_h() const {
  return padding_after(window.height, window.pad_h, window.kernel_h, window.dilation_h,
                       window.stride_h, window.out_height);
}

int ConvolutionProblem::end_pad_w() const {
  return padding_after(window.width, window.pad_w, window.kernel_w, window.dilation_w,
                       window.stride_w, window.out_width);
}

bool ConvolutionProblem::evenly_padded() const {
  return end_pad_h() == window.pad_h && end_pad_w() == window.pad_w;
}

ConvolutionProblem ConvolutionProblem::before_activation() const {
  ConvolutionProblem result = *this;
  result.activation.reset();
  return result;
}

ConvolutionProblem ConvolutionProblem::before_addend() const {
  ConvolutionProblem result = before_activation();
  if (addend) result.addend = result.relu_after = false;
  return result;
}

std::size_t ConvolutionProblem::input_values() const {
  return static_cast<std::size_t>(window.images) * static_cast<std::size_t>(window.height) *
         static_cast<std::size_t>(window.width) * static_cast<std::size_t>(window.channels);
}

std::size_t ConvolutionProblem::weight_values() const {
  return static_cast<std::size_t>(window.out_channels) *
         static_cast<std::size_t>(window.channels / groups) *
         static_cast<std::size_t>(window.kernel_h) * static_cast<std::size_t>(window.kernel_w);
}

std::size_t ConvolutionProblem::output_values() const {
  return static_cast<std::size_t>(pixels()) * static_cast<std::size_t>(window.out_channels);
}

std::string ConvolutionProblem::key() const {
  std::ostringstream text;
  text << "conv " << window.images << 'x' << window.height << 'x' << window.width << 'x'
       << window.channels << " -> " << window.out_height << 'x' << window.out_width << 'x'
       << window.out_channels << " k" << window.kernel_h << 'x' << window.kernel_w << " s"
       << window.stride_h << 'x' << window.stride_w << " p" << window.pad_h << 'x' << window.pad_w
       << " g" << groups;
  if (window.dilation_h != 1 || window.dilation_w != 1) {
    text << " d" << window.dilation_h << 'x' << window.dilation_w;
  }
  if (relu_before) text << " relu-before";
  if (bias) text << " b";
  if (addend) text << " add";
  if (relu_after) text << " relu";
  if (activation) {
    text << ' ' << name_of(activation->function);
    if (activation->alpha != 0 || activation->beta != 0) {
      text << '(' << activation->alpha << ',' << activation->beta << ')';
    }
  }
  text << ' ' << to_string(precision);
  return text.str();
}

std::vector<std::string> convolution_candidates(const ConvolutionProblem& problem,
                                                const ConvolutionTools& tools, bool deterministic) {
  std::vector<std::string> names;
  for (const ConvolutionFamily* family : kFamilies) {
    for (const ComputedPart& part : family->parts(problem)) {
      try {
        for (std::string& name : family->candidates(part.problem, tools, deterministic)) {
          names.push_back(std::move(name));
        }
      } catch (const RunError& error) {
        HIOS_CUDA(cudaGetLastError(), kProposing);  // of a GPU that does no more work
        log::verbose(std::string(family->name) + " proposes nothing for " + part.problem.key() +
                     ": " + error.what());
      }
    }
  }
  return names;
}

namespace {

/// An algorithm for a part of a problem, and a pass in place with the rest.
class FinishedAfter final : public ConvolutionAlgorithm {
 public:
  FinishedAfter(std::unique_ptr<ConvolutionAlgorithm> first, const ConvolutionProblem& part,
                const ConvolutionProblem& problem, cudaStream_t stream)
      : first_(std::move(first)), stream_(stream), adds_(problem.addend && !part.addend) {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    const Unary nothing{Unary::Function::kClip, -kInfinity, kInfinity};
    const Unary relu{Unary::Function::kClip, 0, kInfinity};
    const Unary last = problem.activation.value_or(problem.relu_after ? relu : nothing);
    after_.element = problem.element();
    after_.function = last.function;
    after_.alpha = last.alpha;
    after_.beta = last.beta;
    after_.values = static_cast<int>(problem.output_values());
  }
  Bytes workspace_bytes() const override { return first_->workspace_bytes(); }
  void queue(const ConvolutionOperands& operands, std::byte* workspace,
             std::string_view doing) override {
    first_->queue(operands, workspace, doing);
    after_.input = after_.output = operands.output;
    after_.addend = adds_ ? operands.addend : nullptr;
    HIOS_CUDA(unary(after_, stream_), doing);
  }

 private:
  std::unique_ptr<ConvolutionAlgorithm> first_;
  cudaStream_t stream_;
  bool adds_;
  UnaryTask after_;
};

/// Returns the part that the algorithm of this name computes.
ComputedPart part_of(const ConvolutionFamily& family, const ConvolutionProblem& problem,
                     const std::string& name) {
  std::vector<ComputedPart> parts = family.parts(problem);
  for (ComputedPart& part : parts) {
    if (!part.suffix.empty() && name.ends_with(part.suffix)) return std::move(part);
  }
  return std::move(parts.front());
}

}  // namespace

bool is_of_a_family(const std::string& words) {
  return std::ranges::any_of(kFamilies, [&](const ConvolutionFamily* family) {
    return (words + " ").starts_with(std::string(family->name) + " ");
  });
}

std::unique_ptr<ConvolutionAlgorithm> make_convolution(const std::string& name,
                                                       const ConvolutionProblem& problem,
                                                       const ConvolutionTools& tools) {
  for (const ConvolutionFamily* family : kFamilies) {
    if (!name.starts_with(std::string(family->name) + " ")) continue;
    const ConvolutionProblem part = part_of(*family, problem, name).problem;
    auto algorithm = family->make(name, part, tools);
    const bool all = part.addend == problem.addend && part.relu_after == problem.relu_after &&
                     part.activation == problem.activation;
    if (all) return algorithm;
    return std::make_unique<FinishedAfter>(std::move(algorithm), part, problem,
                                           tools.stream.stream());
  }
  refuse_name(name);
}

Bytes ReluFirst::workspace_bytes() const {
  if (!problem_.relu_before) return 0;
  const Bytes size_bytes = problem_.input_values() * size_of(problem_.element());
  return (size_bytes + kAlignment - 1) / kAlignment * kAlignment;
}

const void* ReluFirst::queue(const void* input, std::byte* workspace, cudaStream_t stream,
                             std::string_view doing) const {
  if (!problem_.relu_before) return input;
  const TaskWindow& window = problem_.window;
  HIOS_CUDA(finish({.element = problem_.element(),
                    .partials = input,
                    .count = 1,
                    .after = {.activation = {Activation::Kind::kRelu}},
                    .output = workspace,
                    .pixels = window.images * window.height * window.width,
                    .channels = window.channels},
                   stream),
            doing);
  return workspace;
}

Activation activation_of(bool relu, const std::optional<Unary>& function) {
  if (relu) return {Activation::Kind::kRelu};
  if (!function) return {};
  return {Activation::Kind::kUnary, function->function, function->alpha, function->beta};
}

void queue_bias_and_relu(const ConvolutionProblem& problem, const ConvolutionOperands& operands,
                         cudaStream_t stream, std::string_view doing) {
  if (operands.bias == nullptr && !problem.relu_after) return;
  HIOS_CUDA(
      finish({.element = problem.element(),
              .partials = operands.output,
              .count = 1,
              .after = {.bias = operands.bias, .activation = activation_of(problem.relu_after, {})},
              .output = operands.output,
              .pixels = problem.pixels(),
              .channels = problem.window.out_channels},
             stream),
      doing);
}

std::vector<std::string> words_of(const std::string& name) {
  std::istringstream text(name);
  std::vector<std::string> words;
  std::string word;
  text >> word;  // the family
  while (text >> word) words.push_back(word);
  return words;
}

void refuse_name(const std::string& name) {
  throw RunError(quote(name) + " is no algorithm of this build's CUDA backend");
}

int number_of(const std::string& word, const std::string& name) {
  int number = 0;
  const char* const end = word.data() + word.size();
  const auto [stopped, error] = std::from_chars(word.data(), end, number);
  if (error != std::errc() || stopped != end || number < 0) refuse_name(name);
  return number;
}

}  // namespace hios::cuda
