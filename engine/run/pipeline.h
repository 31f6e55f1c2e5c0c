#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "engine/run/clocks/run_clocks.h"
#include "engine/run/plan/plan.h"
#include "engine/run/rank_context.h"

namespace hios {

/// The time in which an inference ran on one rank, in ms from the start of the run there. On an
/// asynchronous device the start is when its first stage was queued, the end when the rank saw that
/// the device had ended it.
struct InferenceTimes {
  double start_ms = 0;  ///< its first stage starts
  double end_ms = 0;    ///< its stages are done and its outputs are kept
};

/// One stage of one inference, in ms from the start of the run on its rank.
struct StageOfInference {
  std::size_t inference = 0, stage = 0;
  double awaited_ms = 0, start_ms = 0, end_ms = 0;  ///< see StageTimes
  static auto fields(auto& self) {
    return std::tie(self.inference, self.stage, self.awaited_ms, self.start_ms, self.end_ms);
  }
};

struct PipelineOptions {
  bool blocking = false;  ///< see ExecutorOptions::blocking
  /// The i-th inference here is inference `first + i · step` of the job, whose copies of a network
  /// take inferences in turn. Its input is that number modulo the plan's inputs.
  std::size_t first = 0, step = 1;
  /// The number of inferences, the last ones of a run, whose stages trace() has; host backends
  /// only.
  std::size_t traced = 0;
};

/// Runs many inferences of one network through one rank's plan. Each rank runs them in order, and
/// begins the next one when its own steps of the one before are done, so that ranks work on several
/// at the same time. Tensors that travel have F = the plan's `in_flight` buffers, which inferences
/// take in turn; each buffer index has its own requests and, on devices, its own recordings.
///
/// An inference begins once the receivers have taken all tensors that this rank sent for the
/// inference F before it. Receivers post receives for an inference as soon as they are done with
/// the one F before. So no rank is ahead of another that it sends to by more than 2 · F, none needs
/// more than its buffers, and no collective is needed. (Archer, Fahrbach, Liu and Prabhu,
/// "Practical Performance Guarantees for Pipelined DNN Inference", Figure 1, with a limited number
/// of buffers.)
///
/// Built once, run many times. The loop allocates, parses, locks and logs nothing. Used by the main
/// thread only.
class Pipeline {
 public:
  /// See Executor's constructor. REQUIRES: `plan` has the same `in_flight` on all ranks.
  Pipeline(const RankContext& rank, const RankPlan& plan, const PipelineOptions& options = {});
  ~Pipeline();

  /// Does the same as Executor::close().
  void close();

  /// Runs one inference for each of `times`. Returns when they are done here and all sends have
  /// been taken. The number is the same on all ranks of a copy; the caller has put a barrier
  /// before. Throws RunError that names rank, host, inference and step. The pipeline must not be
  /// used after that.
  void run(std::span<InferenceTimes> times);

  /// Returns the shares of the last run's time. On an asynchronous device the computing time is not
  /// known, and is 0.
  const TimeShares& shares() const;
  /// Returns the start of the last run, in ms on this host's clock, which its processes share.
  double began_ms() const;
  /// Returns true if this rank has no operators.
  bool idle() const;
  /// Returns true if shares() has the computing time: not on an asynchronous device.
  bool knows_computing() const;
  /// Returns the stages of the last inferences (PipelineOptions::traced). Allocates.
  std::vector<StageOfInference> trace() const;
  /// Returns the number of inferences of the last run whose outputs differ in some bit from those
  /// of the inference before with the same input.
  std::size_t unlike() const;
  /// Returns true if the last run had that input here.
  bool ran(std::size_t input) const;
  /// Returns a copy of a graph output, as the last inference with that input computed it. REQUIRES:
  /// ran(input), and the operator runs here.
  std::vector<float> output(OpId op, std::size_t input) const;

  /// Return the step and the count for watchdogs, like Executor's.
  std::string current_step() const;
  std::uint64_t progress() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hios
