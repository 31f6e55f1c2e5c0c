#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/cuda/device/handles.h"
#include "engine/cuda/operators/convolution.h"

namespace hios::cuda {

/// The result of trying an algorithm.
struct Trial {
  std::optional<double> ms;  ///< the time of one run
  std::string refusal = {};  ///< the reason why there is no time
};

/// Runs algorithms for one problem on operands of its own, and times them. There are several sets
/// of operands, activations as well as weights, and runs take them in turn, so that none finds its
/// own in the GPU's cache. In a network, too, a convolution finds its weights in memory, since a
/// whole network has run in between.
class AutotuneTimer {
 public:
  AutotuneTimer(const ConvolutionProblem& problem, const ConvolutionTools& tools);

  /// Queues rows of runs from now on, without recording: for a GPU that records nothing.
  void record_nothing() { records_ = false; }
  /// Returns the GPU time of one run, the minimum over a few rows of runs. A row is replayed as a
  /// graph, so that the host's queueing does not count. There is a reason in place of a time if the
  /// algorithm does not run, cannot be recorded, or takes more than three times `best_ms` in a
  /// first, short row.
  Trial trial(ConvolutionAlgorithm& algorithm, double best_ms);
  /// Returns the distance of the algorithm's output from that of another for the same random
  /// operands, relative to the latter's length (L2); infinity if some values are not finite or not
  /// written. Throws RunError if one of the two does not run.
  double difference(ConvolutionAlgorithm& algorithm, ConvolutionAlgorithm& reference);
  /// Throws RunError, which names the algorithm as the cause, if the GPU does no more work. It has
  /// a need::WithoutAlgorithms, with those that are left out already.
  void require_working_device(const std::string& algorithm,
                              std::vector<std::string> left_out) const;
  /// Runs the algorithm once and waits, which loads its code. Throws RunError if it does not run,
  /// or memory is too small for one set of operands.
  void run_once(ConvolutionAlgorithm& algorithm);
  /// Runs the algorithm until the GPU has been busy for half a second. Clocks rise from idle for a
  /// while, and would make the first candidate look slow. Throws RunError if it does not run.
  void warm_up(ConvolutionAlgorithm& algorithm);

 private:
  void queue(ConvolutionAlgorithm& algorithm, std::size_t run);
  /// Returns the GPU time of the work that `work` queues, in ms.
  template <class Work>
  double timed(Work&& work);
  Bytes set_bytes() const {
    return input_bytes_ + weights_bytes_ + bias_bytes_ + addend_bytes_ + output_bytes_;
  }
  void make_sets(std::size_t sets);
  void fill_operands();
  /// Runs the algorithm on the first operands; returns its output.
  std::vector<float> output_of(ConvolutionAlgorithm& algorithm);
  /// Returns a function that runs so many runs and returns their time, in ms. REQUIRES: the
  /// algorithm has run once.
  std::function<double()> row_of(ConvolutionAlgorithm& algorithm, std::size_t runs);

  const ConvolutionProblem problem_;
  cudaStream_t stream_;
  Bytes input_bytes_, weights_bytes_, bias_bytes_, addend_bytes_,
      output_bytes_;  // one set's, aligned
  Bytes cache_bytes_;
  bool records_ = true;
  std::size_t sets_ = 0;                   // the largest number so far
  std::unique_ptr<DeviceBlock> operands_;  // one set after another
  std::unique_ptr<DeviceBlock> workspace_;
  Event before_, after_;
  std::unique_ptr<DeviceBlock> byte_;  // to ask whether the GPU still works
};

/// Returns a time with four digits: "0.01234 ms".
std::string ms_text(double ms);

/// Returns the number of operand sets that a trial takes in turn: so many that all others fill the
/// cache before a run takes a set again, if a quarter of the free memory holds them; at least one,
/// and at most a few hundred.
std::size_t trial_sets(Bytes set_bytes, Bytes cache_bytes, Bytes free_bytes);

}  // namespace hios::cuda
