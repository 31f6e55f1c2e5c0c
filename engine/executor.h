#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/backend.h"
#include "engine/plan.h"
#include "engine/tensor_source.h"
#include "mpi/transport.h"

namespace hios {

/// When a stage of this rank ran, in ms from the start of the iteration on this rank's clock.
struct StageClock {
  double awaited_ms = 0;  ///< began to wait for inputs
  double start_ms = 0;
  double end_ms = 0;
};

/// Runs one rank's plan. Built once (weights, primitives, requests), run many times. The timed loop
/// allocates, parses, locks and logs nothing. Used by the main thread only.
class Executor {
 public:
  /// All arguments outlive the executor. Throws InputError where the backend does not support an
  /// operator (operator and reason), RunError where memory is short.
  Executor(const CoarseGraph& coarse, const Model& model, const RankPlan& plan, Backend& backend,
           mpi::Transport& transport, TensorSource& source);
  ~Executor();

  /// One inference. Returns this rank's time in ms from now to its last output and the end of its
  /// sends. The caller has put a barrier before. Throws RunError that names rank, host and step;
  /// the executor is of no further use then.
  double run_once();

  /// The stages of the last run_once, when `record_stages(true)`.
  void record_stages(bool on);
  std::span<const StageClock> stage_clocks() const;
  /// Of the last run: what the executor itself took, outside kernels and waits.
  double overhead_ms() const;

  /// An operator's output of the last run (REQUIRES: in the plan's slots, and not overwritten
  /// since: a graph output, or any with PlanOptions::keep_all).
  std::span<const float> output(OpId op) const;

  /// For watchdogs: the step that runs now, readable from any thread ("stage 4: conv_7, conv_9",
  /// "waiting for conv_3 from rank 1").
  std::string current_step() const;
  /// Also for watchdogs: grows with every step; readable from any thread.
  std::uint64_t progress() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hios
