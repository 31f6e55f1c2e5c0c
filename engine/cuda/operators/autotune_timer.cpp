#include "engine/cuda/operators/autotune_timer.h"

#include <algorithm>
#include <limits>

#include "engine/cuda/device/handles.h"
#include "engine/cuda/device/recording.h"

namespace hios::cuda {
namespace {

constexpr int kRunsInARow = 20;
constexpr int kRows = 4;  // the first is not counted

constexpr const char* kDoing = "trying an algorithm";

Bytes bytes_of(std::size_t values, const ConvolutionProblem& problem) {
  return values * size_of(problem.element());
}

/// Small positive numbers, were all bytes this one: zeros would draw less power than what is to
/// come, and halves must not add up to infinity.
int filling(const ConvolutionProblem& problem) {
  return problem.element() == Element::kHalf ? 0x24 : 0x3c;
}

}  // namespace

AutotuneTimer::AutotuneTimer(const ConvolutionProblem& problem, const ConvolutionTools& tools)
    : stream_(tools.stream.stream()),
      input_(bytes_of(problem.input_values(), problem), "autotuning: input"),
      weights_(bytes_of(problem.weight_values(), problem), "autotuning: weights"),
      bias_(bytes_of(static_cast<std::size_t>(problem.window.out_channels), problem),
            "autotuning: bias"),
      output_(bytes_of(problem.output_values(), problem), "autotuning: output"),
      has_bias_(problem.bias),
      before_(make_timed_event()),
      after_(make_timed_event()) {
  for (DeviceBlock* const block : {&input_, &weights_, &bias_}) {
    HIOS_CUDA(cudaMemsetAsync(block->data(), filling(problem), block->size_bytes(), stream_),
              kDoing);
  }
}

void AutotuneTimer::queue(ConvolutionAlgorithm& algorithm) {
  algorithm.queue(
      {input_.data(), weights_.data(), has_bias_ ? bias_.data() : nullptr, output_.data()},
      workspace_->data(), kDoing);
}

void AutotuneTimer::run_once(ConvolutionAlgorithm& algorithm) {
  const Bytes wanted = algorithm.workspace_bytes();
  if (!workspace_ || workspace_->size_bytes() < wanted) {
    workspace_.reset();
    workspace_ =
        std::make_unique<DeviceBlock>(std::max(wanted, Bytes{256}), "autotuning: workspace");
  }
  queue(algorithm);
  HIOS_CUDA(cudaStreamSynchronize(stream_), kDoing);
}

std::optional<double> AutotuneTimer::ms(ConvolutionAlgorithm& algorithm) {
  try {
    run_once(algorithm);
    const GraphExec row = capture(stream_, [&] {
      for (int i = 0; i < kRunsInARow; ++i) queue(algorithm);
    });
    double least = std::numeric_limits<double>::infinity();
    for (int i = 0; i < kRows; ++i) {
      HIOS_CUDA(cudaEventRecord(before_.get(), stream_), kDoing);
      HIOS_CUDA(cudaGraphLaunch(row.get(), stream_), kDoing);
      HIOS_CUDA(cudaEventRecord(after_.get(), stream_), kDoing);
      HIOS_CUDA(cudaStreamSynchronize(stream_), kDoing);
      float milliseconds = 0;
      HIOS_CUDA(cudaEventElapsedTime(&milliseconds, before_.get(), after_.get()), kDoing);
      if (i > 0) least = std::min(least, static_cast<double>(milliseconds));
    }
    return least / kRunsInARow;
  } catch (const RunError&) {
    // Not an error of the run: the libraries refuse by failing. One that broke the context fails
    // every call after it too, and then no candidate is left, which is reported.
    (void)cudaGetLastError();
    return {};
  }
}

}  // namespace hios::cuda
