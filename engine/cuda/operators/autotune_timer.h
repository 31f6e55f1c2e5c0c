#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "engine/cuda/device/handles.h"
#include "engine/cuda/operators/convolution.h"

namespace hios::cuda {

/// Runs algorithms for one problem on operands of its own, and takes their time. The operands are
/// there several times, together larger than the GPU's cache, and runs take them in turn: in a
/// network, too, a convolution finds its weights in memory, where whole networks ran since.
class AutotuneTimer {
 public:
  AutotuneTimer(const ConvolutionProblem& problem, const ConvolutionTools& tools);

  /// From now on rows are queued, not recorded: for a GPU that records nothing.
  void record_nothing() { records_ = false; }
  /// Milliseconds on the GPU of one run in a row of runs, replayed as a graph so that the host's
  /// queueing does not count; the least of a few rows. Nothing where the algorithm does not run,
  /// cannot be recorded, or its first run takes more than three times `best_ms`.
  std::optional<double> ms(ConvolutionAlgorithm& algorithm, double best_ms);
  /// Runs it once and waits: its code is then loaded. Throws RunError where it does not run, or one
  /// set of operands finds no memory.
  void run_once(ConvolutionAlgorithm& algorithm);
  /// Runs it until the GPU has been busy for half a second: clocks rise from idle for a while, and
  /// would make whatever is tried first look slow. Throws RunError where it does not run.
  void warm_up(ConvolutionAlgorithm& algorithm);

 private:
  void queue(ConvolutionAlgorithm& algorithm, std::size_t run);
  /// Of what `work` queues, in ms.
  template <class Work>
  double timed(Work&& work);
  void make_sets(std::size_t sets);
  /// What it does from then on takes the time of so many runs, in ms.
  std::function<double()> row_of(ConvolutionAlgorithm& algorithm, std::size_t runs);

  const ConvolutionProblem problem_;
  cudaStream_t stream_;
  Bytes input_bytes_, weights_bytes_, bias_bytes_, output_bytes_;  // of a set, aligned
  Bytes cache_bytes_;
  bool records_ = true;
  std::size_t sets_ = 0;                   // as far as they were wanted
  std::unique_ptr<DeviceBlock> operands_;  // set after set
  std::unique_ptr<DeviceBlock> workspace_;
  Event before_, after_;
};

/// How many sets of operands a trial takes in turn: so many that they do not fit the cache, where a
/// quarter of the free memory is enough for them; at least one, and not more than a few hundred.
std::size_t trial_sets(Bytes set_bytes, Bytes cache_bytes, Bytes free_bytes);

}  // namespace hios::cuda
