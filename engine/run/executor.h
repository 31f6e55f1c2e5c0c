#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/cold/kept_parameters.h"
#include "engine/run/clocks/operator_clocks.h"
#include "engine/run/clocks/run_clocks.h"
#include "engine/run/plan/plan.h"
#include "engine/run/rank_context.h"

namespace hios {

struct ExecutorOptions {
  /// On asynchronous devices, waits after every operator, so that a failure names the operator and
  /// its stream. Times mean nothing then.
  bool blocking = false;
  /// Times each operator, too, while stages are recorded.
  bool time_operators = false;
  LoadOptions loads = {};  ///< of a plan with loads
  /// Overwrites evicted parameters, so that a result that used them afterwards is another. Costs
  /// the time of writing them.
  bool overwrites_evicted = false;
};

/// The parameters at the beginning of an inference, for a plan with loads.
enum class Start {
  kCold,      ///< none is there: they are loaded while the operators run
  kResident,  ///< all are there: nothing is loaded
};

/// Runs one rank's plan, one inference at a time: its stages in the plan's order, or as soon as
/// they can where it was planned for any (PlanOptions::any_order; not on asynchronous devices).
/// Built once (weights, primitives, requests), run many times. The timed loop allocates, parses,
/// locks and logs nothing. Used by the main thread only.
class Executor {
 public:
  /// The context's references and the plan outlive the executor. Collective where the transport's
  /// open_channel is. Throws InputError where the backend does not support an operator (operator
  /// and reason) or its memory cannot hold the plan, RunError where memory is short all the same.
  Executor(const RankContext& rank, const RankPlan& plan, const ExecutorOptions& options = {});
  ~Executor();

  /// Ends the requests, and returns when all ranks have: no peer maps this rank's tensors any more,
  /// and the executor may be destroyed. Collective. run_once must not be called afterwards. Only
  /// jobs with devices need it (mpi/device/tensor_transport.h).
  void close();

  /// Runs one inference. Returns this rank's time in ms from now to its last output and the end of
  /// its sends. The caller has put a barrier before. Throws RunError that names rank, host and
  /// step, and where a device failed, the operators that it had been given, by stream. The executor
  /// must not be used after that.
  double run_once();

  /// Returns the parameters of the plan's operators in memory, "conv_1.0", "conv_1.1" …, those that
  /// operators share once; they live as long as this. Throws InputError where the backend does not
  /// show them.
  std::vector<ParameterPart> parameters() const;

  /// Sets how the next inferences start; first kCold. REQUIRES: where resident, all was loaded
  /// since the last forget_parameters().
  void start(Start start);
  /// Overwrites all parameters that the plan loads, as before a cold start.
  void forget_parameters();
  /// Loads all, and runs nothing. Returns its time in ms on this rank. Collective where ranks
  /// exchange loads.
  double load_alone();

  /// Switches recording on: run_once then notes when stages and messages happen, for clocks().
  /// Switching it on may allocate. While it is off, nothing is noted, and nothing costs time.
  void record_stages(bool on);
  /// Returns the times of the last recorded run_once.
  const RunClocks& clocks() const;
  /// Reads the device's clock before the first stage and after the last, and nowhere else, while
  /// the device is asynchronous and stages are not recorded. Switching it on may allocate.
  /// REQUIRES: a stage.
  void time_device(bool on);
  /// Returns the time between these two readings, in ms.
  double device_ms() const;
  /// Returns the same as clocks(), as this rank's share of a Timeline. Allocates.
  RankTimeline timeline() const;
  /// Returns the operators' times in the last recorded run (ExecutorOptions::time_operators). An
  /// asynchronous device reads its clock around stages, and so times only operators that are a
  /// stage by themselves. Allocates.
  std::vector<OperatorTime> operator_times() const;
  /// Returns the time that the executor itself took in the last run, outside kernels (on an
  /// asynchronous device: giving it stages) and waits.
  double overhead_ms() const;

  /// Returns a copy of an operator's output of the last run (REQUIRES: in the plan's slots, and not
  /// overwritten since: a graph output, or any with PlanOptions::keep_all).
  std::vector<float> output(OpId op) const;

  /// Returns the step that runs now, for watchdogs, readable from any thread ("stage 4: conv_7,
  /// conv_9", "waiting for conv_3 from rank 1").
  std::string current_step() const;
  /// Returns a count that grows with every step, for watchdogs, readable from any thread.
  std::uint64_t progress() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hios
