#pragma once

#include <algorithm>
#include <atomic>
#include <concepts>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "engine/cold/device/device_loads.h"
#include "engine/cold/kept_parameters.h"
#include "engine/cold/load_courier.h"
#include "engine/cold/loader.h"
#include "engine/run/bound_plan.h"
#include "engine/run/clocks/operator_clocks.h"
#include "engine/run/clocks/run_clocks.h"
#include "engine/run/clocks/step_progress.h"
#include "engine/run/device_stages.h"
#include "engine/run/plan/plan.h"
#include "engine/run/rank_context.h"
#include "engine/run/ready/ready_order.h"
#include "mpi/transport.h"

namespace hios {

/// The messages and recordings of one buffer index. Recordings go before the messages they hold.
struct BufferSet {
  std::unique_ptr<mpi::Channel> channel;  ///< null where the plan has no messages
  std::optional<DeviceStages> device;     ///< where the backend is asynchronous
};

/// An executor that a StepLoop runs the steps of a plan for: it waits and sends in its own way, and
/// notes the times that it wants. poll_between_operators() is called while a stage of a host
/// backend runs, the other functions between stages.
template <class Runner>
concept StepRunner = requires(Runner& runner, std::size_t i, const StageTimes& times) {
  runner.await_receive(i);
  runner.await_send(i);
  runner.start_send(i);
  runner.poll();
  runner.poll_between_operators();
  runner.stage_ended(i, times);           // on a host
  runner.segment_queued(times.start_ms);  // on an asynchronous device
};

/// A runner of stages in any order on a host, which looks at messages and waits for none.
template <class Runner>
concept ReadyRunner = StepRunner<Runner> && requires(Runner& runner, std::size_t i) {
  { runner.received(i) } -> std::same_as<bool>;  // as poll() has seen
  { runner.sent(i) } -> std::same_as<bool>;
  runner.take_receive(i);  // it was received, or was taken before
  runner.take_send(i);     // likewise
  // The rank has waited since then, if the receive, which was taken, ended later; returns the
  // later.
  { runner.waited_for_receive(i, double()) } -> std::same_as<double>;
};

/// One rank's plan made ready, and the loop over its steps, which Executor and Pipeline share. All
/// that can be settled before the first iteration is settled in the constructor: memory, bound
/// operators, requests and recordings. The loop allocates, parses, locks and logs nothing (but for
/// the locks of emulated buses), and calls its runner without indirection. Used by the main thread,
/// but for current_step() and the count of progress(), which a watchdog reads.
class StepLoop {
 public:
  struct Options {
    bool blocking = false;  ///< see ExecutorOptions::blocking
    /// Several inferences may be in flight: sends are synchronous, and current_step() names the
    /// inference.
    bool many = false;
    OperatorClocks* clocks = nullptr;  ///< times operators; null: nobody does
    LoadOptions loads = {};
    bool overwrites_evicted = false;  ///< see ExecutorOptions
  };

  /// The context's references, the plan and the clocks outlive the loop. Collective where the
  /// transport's open_channel is, or its messages may be recorded. Throws as BoundPlan and
  /// DeviceStages do.
  StepLoop(const RankContext& rank, const RankPlan& plan, const Options& options);

  /// Runs all steps of one inference in the buffers of one index. REQUIRES: its receives are
  /// posted.
  template <StepRunner Runner>
  void run_steps(std::size_t buffer, Runner& runner);
  /// Runs all steps of one inference, its stages in the order in which they can run
  /// (ready_order.h). REQUIRES: likewise; plan().any_order; a host backend. Defined in
  /// ready_loop.h.
  template <ReadyRunner Runner>
  void run_ready(Runner& runner);

  /// A plan's loads; null where it has none. On an asynchronous device its stages start them
  /// (DeviceStages::begin).
  LoadLanes* loader() const { return loader_.get(); }
  KeptParameters* kept() { return kept_.get(); }
  /// Null where no rank exchanges loads.
  LoadCourier* courier() const { return courier_.get(); }
  /// Lets others of this core run while the main thread waits for loads or messages.
  void idle() const {
    if (options_.loads.pace) return options_.loads.pace->idle();
    Loader::yield();
  }
  /// Says whether steps wait for loads: false where all parameters are there. May allocate.
  void await_loads(bool wait);

  /// Rethrows the exception that is being handled as a RunError that names rank, host and
  /// current_step(), and where a device failed, the operators that it had been given, by stream.
  /// Recordings are destroyed and channels abandoned: what is freed on the way out waits for no
  /// other rank. Nothing can run afterwards. REQUIRES: called in a catch clause.
  [[noreturn]] void rethrow();

  /// Ends the requests, and returns when all ranks have. Collective.
  void close();

  /// Returns the step that runs now, readable from any thread: "stage 4: conv_7, conv_9", "waiting
  /// for conv_3 from rank 1 …".
  std::string current_step() const;

  const RankContext& rank() const { return rank_; }
  const RankPlan& plan() const { return plan_; }
  const BoundPlan& bound() const { return bound_; }
  bool asynchronous() const { return rank_.backend.accelerator() != nullptr; }
  std::span<BufferSet> buffers() { return buffers_; }  ///< by buffer index
  const StepProgress& progress() const { return progress_; }
  StepProgress& progress() { return progress_; }
  const TimeMeter& meter() const { return meter_; }
  TimeMeter& meter() { return meter_; }

 private:
  template <StepRunner Runner>
  std::size_t run_step(std::size_t step, Runner& runner);
  template <StepRunner Runner>
  std::size_t queue_segment(Runner& runner);
  template <StepRunner Runner>
  void compute(std::size_t stage, Runner& runner);
  template <StepRunner Runner>
  void run_operators(std::size_t stage, double start_ms, Runner& runner);
  template <StepRunner Runner>
  void let_messages_progress(Runner& runner);
  template <ReadyRunner Runner>
  bool holds(const Step& step, Runner& runner) const;
  template <ReadyRunner Runner>
  std::size_t first_unmet(const ReadyBlock& block, Runner& runner) const;
  template <ReadyRunner Runner>
  std::optional<std::size_t> earliest_ready(Runner& runner) const;
  template <ReadyRunner Runner>
  std::size_t await_ready(Runner& runner);
  template <ReadyRunner Runner>
  void name_earliest_wait(Runner& runner);
  template <ReadyRunner Runner>
  void run_block(const ReadyBlock& block, Runner& runner);
  template <StepRunner Runner, class Ended>
  void await_loads(Runner& runner, Ended&& ended);
  template <StepRunner Runner>
  void evict(std::size_t eviction, Runner& runner);
  bool parameters_left(std::size_t eviction) const;
  void begin_wait();
  void open_loads();
  void open_loader();
  void open_device_loads();
  std::vector<std::vector<std::size_t>> closed_loads() const;
  Loader::BeforeCopy paced() const;
  void open_channels();
  bool may_record_messages() const;
  bool all_ranks(bool one) const;
  void open_devices();
  std::string position_text(std::size_t position) const;
  std::string loads_text() const;
  std::string suspects_text() const;
  std::string others_text() const;
  RunError failure() const;
  void let_device_end(const RunError& failure);

  const RankContext rank_;
  const RankPlan& plan_;
  const Options options_;
  const bool has_messages_;  // tensors, or loads that are exchanged
  // In the order in which they are made; requests go before the memory that they use.
  StepProgress progress_;  // bound operators refer to it
  BoundPlan bound_;
  std::unique_ptr<KeptParameters> kept_;
  std::unique_ptr<LoadLanes> loader_;
  DeviceLoads* device_loads_ = nullptr;  // the same, on an asynchronous device
  std::unique_ptr<LoadCourier> courier_;
  bool awaits_loads_ = true;
  std::vector<BufferSet> buffers_;  // by buffer index
  std::size_t buffer_ = 0;          // the index of the iteration under way
  TimeMeter meter_;
  std::optional<double> awaited_ms_;  // when the next stage began to wait, if it did
  // For stages in any order.
  std::vector<ReadyBlock> blocks_;
  std::optional<OpenBlocks> open_;
  std::atomic<std::size_t> others_wait_{0};  // stages, besides the one that current_step() names
};

template <StepRunner Runner>
void StepLoop::run_steps(std::size_t buffer, Runner& runner) {
  buffer_ = buffer;
  awaited_ms_.reset();
  if (auto& device = buffers_[buffer].device) device->begin();
  for (std::size_t step = 0; step < plan_.steps.size();) {
    progress_.enter_step(step);
    step = run_step(step, runner);
  }
}

// Returns the step that comes next.
template <StepRunner Runner>
std::size_t StepLoop::run_step(std::size_t index, Runner& runner) {
  const Step& step = plan_.steps[index];
  if (const auto& device = buffers_[buffer_].device; device && device->is_next(index)) {
    return queue_segment(runner);
  }
  if (const auto* receive = std::get_if<AwaitReceive>(&step)) {
    begin_wait();
    runner.await_receive(receive->receive);
  } else if (const auto* sent = std::get_if<AwaitSend>(&step)) {
    begin_wait();
    runner.await_send(sent->send);
  } else if (const auto* load = std::get_if<AwaitLoad>(&step)) {
    if (awaits_loads_) {
      await_loads(runner, [&] { return loader_->usable(load->lane, load->load); });
      loader_->order_after(load->lane, load->load);
    }
  } else if (std::holds_alternative<AwaitOtherLoads>(step)) {
    if (awaits_loads_) await_loads(runner, [&] { return courier_->others_ended(); });
  } else if (const auto* eviction = std::get_if<Evict>(&step)) {
    if (awaits_loads_) evict(eviction->eviction, runner);
  } else if (const auto* send = std::get_if<StartSend>(&step)) {
    runner.start_send(send->send);
  } else {
    compute(stage_of(step), runner);
  }
  return index + 1;
}

// Messages progress before a stage, as if awaited, and between its operators: a rank that computes
// makes no progress with them, unless it asks.
template <StepRunner Runner>
void StepLoop::compute(std::size_t stage, Runner& runner) {
  let_messages_progress(runner);
  run_operators(stage, meter_.last_ms(), runner);
}

template <StepRunner Runner>
void StepLoop::let_messages_progress(Runner& runner) {
  meter_.charge(&TimeShares::own_ms);
  if (!has_messages_) return;
  runner.poll();
  meter_.charge(&TimeShares::transferring_ms);
}

template <StepRunner Runner>
void StepLoop::run_operators(std::size_t stage, double start_ms, Runner& runner) {
  void (*poll_between)(void*) = nullptr;
  if (has_messages_) {
    poll_between = [](void* argument) { static_cast<Runner*>(argument)->poll_between_operators(); };
  }
  const BoundStage& bound = bound_.stages(buffer_)[stage];
  rank_.backend.run_stage(bound.groups, bound.shares, poll_between, &runner);
  const double end_ms = meter_.charge(&TimeShares::computing_ms);
  runner.stage_ended(stage, {awaited_ms_.value_or(start_ms), 0, start_ms, end_ms});
  awaited_ms_.reset();
}

// Returns the step after the segment.
template <StepRunner Runner>
std::size_t StepLoop::queue_segment(Runner& runner) {
  meter_.charge(&TimeShares::own_ms);
  runner.poll();
  const double start_ms = meter_.charge(&TimeShares::transferring_ms);
  const std::size_t next = buffers_[buffer_].device->run_next();
  runner.segment_queued(start_ms);
  awaited_ms_.reset();
  return next;
}

// Messages progress while the loader's threads, which may need this core, load.
template <StepRunner Runner, class Ended>
void StepLoop::await_loads(Runner& runner, Ended&& ended) {
  begin_wait();
  while (!ended()) {
    if (has_messages_) runner.poll();
    idle();
  }
  meter_.charge(&TimeShares::waiting_ms);
}

// The receivers have the parameters already, since a stage has waited for that, so the sends end as
// soon as this rank looks.
template <StepRunner Runner>
void StepLoop::evict(std::size_t eviction, Runner& runner) {
  if (!plan_.evictions[eviction].sends.empty()) {
    await_loads(runner, [&] { return parameters_left(eviction); });
  }
  if (options_.overwrites_evicted) kept_->evict(eviction);
}

inline bool StepLoop::parameters_left(std::size_t eviction) const {
  return std::ranges::all_of(plan_.evictions[eviction].sends,
                             [&](std::size_t send) { return courier_->sent(send); });
}

inline void StepLoop::begin_wait() {
  const double now_ms = meter_.charge(&TimeShares::own_ms);
  if (!awaited_ms_) awaited_ms_ = now_ms;
}

}  // namespace hios
