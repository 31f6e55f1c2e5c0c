// The steps are run by a StepLoop (step_loop.h). The executor's own are the clocks of an iteration,
// which are noted on request, and the wait for its end. A channel's awaits block, since there is
// nothing else to do for one inference. Tests in tests/engine/run/: executor_test.cpp and
// device_executor_test.cpp (results against one rank, bit for bit), allocation_test.cpp (no
// allocation in run_once).
#include "engine/run/executor.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

#include "engine/cold/loader.h"
#include "engine/host/clock.h"
#include "engine/run/clocks/message_watch.h"
#include "engine/run/ready/ready_loop.h"
#include "engine/run/step_loop.h"

namespace hios {

/// The StepRunner of one inference at a time.
struct Executor::State {
  State(const RankContext& rank, const RankPlan& rank_plan, const ExecutorOptions& the_options)
      : plan(rank_plan),
        options(the_options),
        loop(rank, rank_plan,
             {.blocking = options.blocking,
              .clocks = options.time_operators ? &operator_clocks : nullptr,
              .loads = options.loads,
              .overwrites_evicted = options.overwrites_evicted}),
        clocks{std::vector<StageTimes>(rank_plan.stages.size()),
               std::vector<MessageClock>(rank_plan.sends.size()),
               std::vector<MessageClock>(rank_plan.receives.size())} {}

  BufferSet& buffers() { return loop.buffers().front(); }
  /// Returns the channel, if this rank's host moves the messages.
  mpi::Channel* channel() {
    return device() && device()->moves_messages() ? nullptr : buffers().channel.get();
  }
  DeviceStages* device() { return buffers().device ? &*buffers().device : nullptr; }

  double run_iteration();

  // For the loop.
  void await_receive(std::size_t receive);
  void await_send(std::size_t send);
  void start_send(std::size_t send);
  void poll();
  void poll_between_operators() { poll(); }
  void stage_ended(std::size_t stage, const StageTimes& times) {
    if (recording) clocks.stages[stage] = times;
  }
  // For the loop, where stages run in any order.
  bool received(std::size_t receive) { return channel()->received(receive); }
  bool sent(std::size_t send) { return channel()->sent(send); }
  // A message may end after the last look; its stage must not begin before it is noted.
  void take_receive(std::size_t receive) {
    channel()->await_receive(receive);
    if (watch) watch->look(loop.meter().last_ms());
  }
  void take_send(std::size_t send) {
    channel()->await_send(send);
    if (watch) watch->look(loop.meter().last_ms());
  }
  double waited_for_receive(std::size_t receive, double since_ms) {
    return watch ? watch->waited(receive, since_ms) : since_ms;
  }
  void segment_queued(double) { loop.meter().charge(&TimeShares::computing_ms); }

  /// Returns the loader of this iteration; null where it loads nothing.
  LoadLanes* loader() { return cold ? loop.loader() : nullptr; }
  LoadCourier* courier() { return cold ? loop.courier() : nullptr; }
  void begin_loads(bool alone);
  void finish_loads(bool alone);
  /// Lets messages and loads of all ranks progress until a condition holds.
  template <class Ended>
  void serve_until(Ended&& ended) {
    while (!ended()) {
      poll();
      loop.idle();
    }
  }
  void note_ready_loads(const LoadLanes& loads);
  void add_loads(const LoadLanes& loads, std::vector<LoadTimes>& times) const;
  std::vector<LoadWait> load_waits() const;

  const RankPlan& plan;
  const ExecutorOptions options;
  OperatorClocks operator_clocks;  // bound operators refer to it
  StepLoop loop;

  bool cold = true;
  bool recording = false;
  RunClocks clocks;
  std::optional<MessageWatch> own_watch;  // made when recording is first switched on
  MessageWatch* watch = nullptr;          // while recording, where there are messages
};

void Executor::State::await_receive(std::size_t receive) {
  if (watch) watch->receive_awaited(receive, loop.meter().last_ms());
  if (device() && recording) device()->mark_wait(receive);
  if (courier()) serve_until([&] { return channel()->received(receive); });
  channel()->await_receive(receive);
  if (plan.receives[receive].shared) std::atomic_thread_fence(std::memory_order_seq_cst);
  const double now_ms = loop.meter().charge(&TimeShares::waiting_ms);
  if (device() && recording) device()->mark_receive(receive);
  if (watch) watch->look(now_ms);
}

void Executor::State::await_send(std::size_t send) {
  if (courier()) serve_until([&] { return channel()->sent(send); });
  channel()->await_send(send);
  const double now_ms = loop.meter().charge(&TimeShares::waiting_ms);
  if (watch) watch->look(now_ms);
}

void Executor::State::start_send(std::size_t send) {
  if (watch) watch->send_started(send, loop.meter().now_ms());
  if (device() && recording) device()->mark_send(send);
  // A message without bytes promises nothing about those in shared memory.
  if (plan.sends[send].shared) std::atomic_thread_fence(std::memory_order_seq_cst);
  channel()->start_send(send);
}

void Executor::State::poll() {
  if (LoadCourier* const loads = courier()) loads->poll();
  if (!channel()) return;
  channel()->poll();
  if (watch) watch->look(loop.meter().now_ms());
}

// A device's stages begin and end its loads themselves, in order with their own, or in a recording.
void Executor::State::begin_loads(bool alone) {
  LoadLanes* const loads = loader();
  if (loads && (alone || !device())) loads->begin();
  if (LoadCourier* const exchange = courier()) exchange->begin();
}

// Other ranks get all that they still need of this one.
void Executor::State::finish_loads(bool alone) {
  LoadCourier* const exchange = courier();
  if (exchange || options.loads.pace) {
    serve_until(
        [&] { return (!exchange || exchange->finished()) && (!loader() || loader()->ended()); });
  }
  LoadLanes* const loads = loader();
  if (loads && (alone || !device())) loads->finish();
}

double Executor::State::run_iteration() {
  StepProgress& progress = loop.progress();
  TimeMeter& meter = loop.meter();
  meter.begin();
  begin_loads(/*alone=*/false);
  if (channel()) channel()->start_receives();
  if (watch) watch->begin();
  if (plan.any_order) {
    loop.run_ready(*this);
  } else {
    loop.run_steps(0, *this);
  }
  progress.enter_end_of_messages();
  meter.charge(&TimeShares::own_ms);
  if (channel() && courier()) serve_until([&] { return channel()->finished(); });
  if (channel()) channel()->finish();
  const double finished_ms = meter.charge(&TimeShares::waiting_ms);
  if (watch) watch->end(finished_ms);
  if (loader() || courier()) {
    progress.enter_loads();
    finish_loads(/*alone=*/false);
    meter.charge(&TimeShares::waiting_ms);
  }
  progress.enter_end_on_device();
  if (device()) {
    meter.charge(&TimeShares::own_ms);
    device()->end(clocks, meter.began_ms());
    meter.charge(&TimeShares::waiting_ms);
  }
  if (recording) {
    note_ready_stages(plan, clocks);
    if (const LoadLanes* const loads = loader()) note_ready_loads(*loads);
  }
  progress.end_iteration();
  return meter.charge(&TimeShares::own_ms);
}

Executor::Executor(const RankContext& rank, const RankPlan& plan, const ExecutorOptions& options) {
  if (plan.in_flight != 1) throw std::logic_error("an executor of several inferences in flight");
  state_ = std::make_unique<State>(rank, plan, options);
}

Executor::~Executor() = default;

double Executor::run_once() {
  try {
    return state_->run_iteration();
  } catch (...) {
    state_->loop.rethrow();
  }
}

std::vector<ParameterPart> Executor::parameters() const {
  if (state_->device()) {
    throw InputError("the " + std::string(state_->loop.rank().backend.name()) +
                     " backend's parameters are on its device, and only a host's can be packed");
  }
  const Graph& graph = state_->loop.rank().graph();
  std::vector<ParameterPart> parts;
  for (const Slot& slot : state_->plan.slots) {
    const Operator& op = graph.op(slot.op);
    if (slot.received || op.parameter_bytes == 0) continue;
    std::size_t number = 0;
    for (const std::span<std::byte> memory : state_->loop.bound().parameter_memory(slot.op)) {
      const std::string name = op.name + "." + std::to_string(number++);
      const bool known = std::ranges::any_of(
          parts, [&](const ParameterPart& part) { return part.bytes.data() == memory.data(); });
      if (!known) parts.push_back({name, memory});
    }
  }
  return parts;
}

void Executor::start(Start start) {
  state_->cold = start == Start::kCold;
  state_->loop.await_loads(state_->cold);
  if (LoadPace* const pace = state_->options.loads.pace) pace->all_loaded(!state_->cold);
}

void Executor::forget_parameters() {
  if (KeptParameters* const kept = state_->loop.kept()) kept->forget();
}

double Executor::load_alone() {
  State& state = *state_;
  if (!state.loop.loader() && !state.loop.courier()) return 0;
  const bool cold = std::exchange(state.cold, true);
  StepProgress& progress = state.loop.progress();
  const Stopwatch stopwatch;
  progress.enter_loads();
  state.begin_loads(/*alone=*/true);
  state.finish_loads(/*alone=*/true);
  if (state.device()) state.loop.rank().backend.synchronize();
  progress.leave();
  state.cold = cold;
  return stopwatch.ms();
}

void Executor::record_stages(bool on) {
  State& state = *state_;
  state.recording = on;
  if (on && state.channel() && !state.own_watch) {
    state.own_watch.emplace(*state.channel(), state.clocks.sends, state.clocks.receives);
  }
  state.watch = on && state.own_watch ? &*state.own_watch : nullptr;
  if (state.device()) state.device()->record_stages(on);
  state.operator_clocks.record(on);
}

const RunClocks& Executor::clocks() const { return state_->clocks; }

void Executor::time_device(bool on) { state_->device()->time_whole(on); }
double Executor::device_ms() const { return state_->device()->whole_ms(); }

RankTimeline Executor::timeline() const {
  const RunClocks& clocks = state_->clocks;
  const RankPlan& plan = state_->plan;
  const DeviceId here(plan.rank.index());
  RankTimeline timeline;
  timeline.stages = clocks.stages;
  for (std::size_t i = 0; i < plan.sends.size(); ++i) {
    const PlannedMessage& send = plan.sends[i];
    const auto& [start_ms, end_ms] = clocks.sends[i];
    timeline.sends.push_back(
        {send.op, here, DeviceId(send.peer.index()), start_ms, end_ms, send.size_bytes()});
  }
  for (std::size_t i = 0; i < plan.receives.size(); ++i) {
    const PlannedMessage& receive = plan.receives[i];
    const auto& [start_ms, end_ms] = clocks.receives[i];
    timeline.receives.push_back(
        {receive.op, DeviceId(receive.peer.index()), here, start_ms, end_ms, receive.size_bytes()});
  }
  if (const LoadLanes* const loads = state_->loader()) {
    state_->add_loads(*loads, timeline.loads);
    timeline.load_waits = state_->load_waits();
  }
  if (const LoadCourier* const exchange = state_->courier()) {
    for (std::size_t i = 0; i < plan.exchange.sends.size(); ++i) {
      const ParameterSend& send = plan.exchange.sends[i];
      const double start_ms = exchange->start_ms(i) - state_->loop.meter().began_ms();
      timeline.sent_loads.push_back(
          {send.lane, send.index, start_ms, start_ms, start_ms, send.size_bytes});
    }
  }
  return timeline;
}

/// Notes that a stage is ready only when its parameters are there.
void Executor::State::note_ready_loads(const LoadLanes& loads) {
  for (const Step& step : plan.steps) {
    const auto* const wait = std::get_if<AwaitLoad>(&step);
    if (!wait) continue;
    const double end_ms = loads.clocks(wait->lane)[wait->load].end_ms - loop.meter().began_ms();
    double& ready_ms = clocks.stages[wait->stage].ready_ms;
    ready_ms = std::max(ready_ms, end_ms);
  }
}

/// Returns how long stages waited for loads alone: after they were free, and after their tensors.
std::vector<LoadWait> Executor::State::load_waits() const {
  std::vector<double> since_ms;  // by stage
  for (const StageTimes& stage : clocks.stages) since_ms.push_back(stage.awaited_ms);
  for (const Step& step : plan.steps) {
    const auto* const wait = std::get_if<AwaitReceive>(&step);
    if (!wait) continue;
    since_ms[wait->stage] = std::max(since_ms[wait->stage], clocks.receives[wait->receive].end_ms);
  }
  std::vector<LoadWait> waits;
  for (const Step& step : plan.steps) {
    const auto* const wait = std::get_if<AwaitLoad>(&step);
    if (!wait) continue;
    const double end_ms =
        loop.loader()->clocks(wait->lane)[wait->load].end_ms - loop.meter().began_ms();
    double& since = since_ms[wait->stage];
    if (end_ms <= since) continue;
    const PlannedLoad& load = plan.lanes[wait->lane][wait->load];
    waits.push_back({load.readers.front(), load.lane, end_ms - since});
    since = end_ms;
  }
  return waits;
}

void Executor::State::add_loads(const LoadLanes& loads, std::vector<LoadTimes>& times) const {
  const double began_ms = loop.meter().began_ms();
  for (std::size_t l = 0; l < loads.lanes(); ++l) {
    double free_ms = 0;
    for (std::size_t i = 0; i < loads.clocks(l).size(); ++i) {
      const PlannedLoad& load = plan.lanes[l][i];
      const auto [start_ms, end_ms] = loads.clocks(l)[i];
      times.push_back({load.lane, load.index, free_ms, start_ms - began_ms, end_ms - began_ms,
                       load.size_bytes});
      free_ms = end_ms - began_ms;
    }
  }
}

std::vector<OperatorTime> Executor::operator_times() const {
  State& state = *state_;
  if (!state.device() || !state.options.time_operators) return state.operator_clocks.times();
  return lone_operators(state.plan.stages, state.clocks.stages);
}

double Executor::overhead_ms() const { return state_->loop.meter().shares().own_ms; }

std::vector<float> Executor::output(OpId op) const { return state_->loop.bound().values(op); }

void Executor::close() {
  state_->watch = nullptr;
  state_->own_watch.reset();
  state_->loop.close();
}

std::string Executor::current_step() const { return state_->loop.current_step(); }

std::uint64_t Executor::progress() const { return state_->loop.progress().count(); }

}  // namespace hios
