#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/cold/load_pace.h"
#include "engine/emulated/flow_queue.h"
#include "engine/emulated/machine.h"
#include "engine/emulated/planned_flows.h"
#include "hios/schedule/schedule.h"
#include "mpi/transport.h"

namespace hios::emulated {

/// Returns a digest of all times, flows and bus rates of an emulated run, on which its ranks must
/// agree. REQUIRES: validate() finds nothing.
std::string digest_of_times(const Machine& machine, const Schedule& schedule);

/// One rank's view of an emulated run: the time of each operator, and the flows that all ranks
/// share. Backend and transport refer to it.
class Emulation final : public LoadPace {
 public:
  /// Collective. `machine` outlives this. Throws InputError, on all ranks, where they are not all
  /// on one host, RunError where there is no memory to share. REQUIRES: validate() finds nothing.
  Emulation(mpi::Transport& transport, const Machine& machine, const Schedule& schedule);

  const Graph& graph() const { return machine_.graph; }
  const PlannedFlows& flows() const { return flows_; }
  /// Returns an operator's time: its share of its stage's cost.
  double operator_ms(OpId op) const { return operator_ms_[op.index()]; }
  /// Returns a time that no rank waits longer for others, in a correct run: twice that of all
  /// operators and flows one after the other. The same on all ranks.
  double longest_wait_ms() const;
  /// Returns the flow by which an operator reads its parameters in place; nothing where it reads
  /// none so, and while all parameters are there.
  std::optional<std::size_t> read_in_place(OpId op) const;

  /// Says whether time passes; first true. While it is false, operators, loads and messages take no
  /// more time than the engine does. REQUIRES: no flow is under way, here or on another rank.
  void pass_time(bool on) { passes_ = on; }
  bool time_passes() const { return passes_; }

  /// Waits for so many ms; calls `poll` (may be null) meanwhile.
  void sleep(double ms, void (*poll)(void*), void* poll_argument);
  /// Starts a flow, and returns when it has ended.
  void run_flow(std::size_t flow, void (*poll)(void*), void* poll_argument);
  FlowQueue& queue() { return *queue_; }
  /// Returns when all ranks have called this as often, or none of a correct run would wait longer;
  /// sleeps meanwhile, while MPI's waits keep a core busy that others want at their times.
  void meet() { queue_->meet(ranks_, longest_wait_ms()); }

  void load(std::size_t lane, std::size_t index, const std::atomic<bool>& stop) override;
  void idle() override;
  void all_loaded(bool yes) override { all_loaded_ = yes; }

 private:
  const Machine& machine_;
  const std::size_t ranks_;
  std::vector<double> operator_ms_;  // by OpId
  PlannedFlows flows_;
  std::unique_ptr<FlowQueue> queue_;
  std::atomic<bool> passes_{true};
  bool all_loaded_ = false;
};

}  // namespace hios::emulated
