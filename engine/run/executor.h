#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/backend/backend.h"
#include "engine/backend/tensor_source.h"
#include "engine/run/operator_clocks.h"
#include "engine/run/plan.h"
#include "engine/run/run_clocks.h"
#include "mpi/transport.h"

namespace hios {

struct ExecutorOptions {
  /// On asynchronous devices, waits after every operator, so that a failure names the one that
  /// failed, and its stream; times mean nothing then.
  bool blocking = false;
  /// Times each operator, too, while stages are recorded.
  bool time_operators = false;
};

/// Runs one rank's plan. Built once (weights, primitives, requests), run many times. The timed loop
/// allocates, parses, locks and logs nothing. Used by the main thread only.
class Executor {
 public:
  /// All arguments outlive the executor. Collective where the transport's open_channel is. Throws
  /// InputError where the backend does not support an operator (operator and reason) or its memory
  /// cannot hold the plan, RunError where memory is short all the same.
  Executor(const CoarseGraph& coarse, const Model& model, const RankPlan& plan, Backend& backend,
           mpi::Transport& transport, TensorSource& source, const ExecutorOptions& options = {});
  ~Executor();

  /// Ends the requests, and returns when all ranks have: then no peer maps this rank's tensors any
  /// more, and the executor may be destroyed. Collective; run_once is over for good. Only jobs with
  /// devices need it (mpi/device/tensor_transport.h).
  void close();

  /// One inference. Returns this rank's time in ms from now to its last output and the end of its
  /// sends. The caller has put a barrier before. Throws RunError that names rank, host and step,
  /// and where a device failed, the operators that it had been given, by stream; the executor is of
  /// no further use then.
  double run_once();

  /// When the stages and messages of the last run_once happened, with `record_stages(true)`.
  /// Switching it on may allocate; while it is off, nothing is noted, and nothing costs time.
  void record_stages(bool on);
  const RunClocks& clocks() const;
  /// On an asynchronous device, while stages are not recorded: its clock is read before the first
  /// stage and behind the last, and nowhere else. Switching it on may allocate. REQUIRES: a stage.
  void time_device(bool on);
  /// What passed between the two, in ms.
  double device_ms() const;
  /// The same as this rank's part of a Timeline. Allocates.
  RankTimeline timeline() const;
  /// With ExecutorOptions::time_operators, of the last recorded run. On an asynchronous device,
  /// whose clock is read around stages, only of operators that are a stage by themselves.
  /// Allocates.
  std::vector<OperatorTime> operator_times() const;
  /// Of the last run: what the executor itself took, outside kernels (on an asynchronous device:
  /// giving it stages) and waits.
  double overhead_ms() const;

  /// A copy of an operator's output of the last run (REQUIRES: in the plan's slots, and not
  /// overwritten since: a graph output, or any with PlanOptions::keep_all).
  std::vector<float> output(OpId op) const;

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
