#pragma once

#include <memory>
#include <optional>

#include "engine/cuda/operators/convolution.h"

namespace hios::cuda {

/// Runs algorithms for one problem on operands of its own, and takes their time.
class AutotuneTimer {
 public:
  /// Throws RunError where the operands find no memory.
  AutotuneTimer(const ConvolutionProblem& problem, const ConvolutionTools& tools);

  /// Milliseconds on the GPU of one run in a row of runs, replayed as a graph so that the host's
  /// queueing does not count; the least of a few rows. Nothing where the algorithm does not run, or
  /// cannot be recorded.
  std::optional<double> ms(ConvolutionAlgorithm& algorithm);
  /// Runs it once and waits: its code is then loaded. Throws RunError where it does not run.
  void run_once(ConvolutionAlgorithm& algorithm);

 private:
  void queue(ConvolutionAlgorithm& algorithm);

  cudaStream_t stream_;
  DeviceBlock input_, weights_, bias_, output_;
  bool has_bias_;
  std::unique_ptr<DeviceBlock> workspace_;
  Event before_, after_;
};

}  // namespace hios::cuda
