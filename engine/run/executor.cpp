// Everything that can be settled before the first iteration is settled in the constructor: one
// arena for all tensors, one bound operator for each operator on its core share, one request for
// each message. What remains is a loop over the plan's steps that calls them.
//
// The clock is read where the rank's time changes hands: around a stage's kernels, around a wait.
// What lies between is the executor's own, overhead_ms(). The step that runs is published as one
// relaxed atomic counter, so that a watchdog can tell a rank that hangs, and on what, at the cost
// of a store a step.
//
// An asynchronous device is only given its stages (engine/run/device_stages.h), a segment at a
// time, and waited for at the end; what is in between is the channel's, which is in order with the
// device's work. Tests: executor_test.cpp and device_executor_test.cpp (results against one rank,
// bit for bit), allocation_test.cpp (no allocation in run_once).
#include "engine/run/executor.h"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <utility>

#include "engine/host/clock.h"
#include "engine/run/bound_plan.h"
#include "engine/run/device_stages.h"
#include "engine/run/message_watch.h"
#include "engine/run/position_text.h"
#include "engine/run/step_progress.h"
#include "hios/base/error.h"
#include "hios/base/need.h"

namespace hios {

struct Executor::State {
  State(const CoarseGraph& coarse_graph, const Model& model, const RankPlan& rank_plan,
        Backend& the_backend, mpi::Transport& the_transport, TensorSource& source,
        const ExecutorOptions& the_options)
      : coarse(coarse_graph),
        plan(rank_plan),
        backend(the_backend),
        transport(the_transport),
        blocking(the_options.blocking),
        time_operators(the_options.time_operators),
        progress(rank_plan, coarse_graph.graph, the_transport.recorder()),
        bound(coarse_graph, model, rank_plan, the_backend, source,
              {progress, time_operators ? &operator_clocks : nullptr}),
        clocks{std::vector<StageTimes>(rank_plan.stages.size()),
               std::vector<MessageClock>(rank_plan.sends.size()),
               std::vector<MessageClock>(rank_plan.receives.size())} {
    if (backend.accelerator()) {
      device.emplace(plan, coarse.graph, backend, bound.stages(0), transport.host(), blocking);
    }
    open_channel();
  }

  void open_channel();

  void run_steps();
  std::size_t run_step(std::size_t step);
  void compute(std::size_t stage);
  std::size_t queue_segment();
  template <class Wait>
  void wait(Wait&& wait_for_it);
  void await_receive(std::size_t receive);
  void start_send(std::size_t send);
  void poll();
  void note_ready_stages();
  double now_ms() const { return ms_between(begin, Clock::now()); }

  const CoarseGraph& coarse;
  const RankPlan& plan;
  Backend& backend;
  mpi::Transport& transport;
  const bool blocking, time_operators;

  // In the order in which they are made; requests go before the memory that they use.
  OperatorClocks operator_clocks;  // operators refer to it
  StepProgress progress;           // and to this
  BoundPlan bound;
  std::optional<DeviceStages> device;     // where the backend is asynchronous
  std::unique_ptr<mpi::Channel> channel;  // none where no message is planned

  bool recording = false;
  RunClocks clocks;
  std::optional<MessageWatch> own_watch;  // made when first wanted
  MessageWatch* watch = nullptr;          // while recording, where there are messages
  Clock::time_point begin;
  std::optional<double> awaited_ms;  // when the coming stage began to wait, if it did
  double elsewhere_ms = 0;           // in kernels and waits of this iteration
  double overhead_ms = 0;
};

// Also where there is no message to open it for, because transports may open channels on all ranks
// together.
void Executor::State::open_channel() {
  channel = transport.open_channel(bound.sends(0), bound.receives(0));
  if (plan.sends.empty() && plan.receives.empty()) channel.reset();
}

template <class Wait>
void Executor::State::wait(Wait&& wait_for_it) {
  const double from = now_ms();
  if (!awaited_ms) awaited_ms = from;
  wait_for_it();
  elsewhere_ms += now_ms() - from;
}

void Executor::State::await_receive(std::size_t receive) {
  if (watch) watch->receive_awaited(receive, now_ms());
  if (device && recording) device->mark_wait(receive);
  wait([&] { channel->await_receive(receive); });
  if (device && recording) device->mark_receive(receive);
  if (watch) watch->look(now_ms());
}

void Executor::State::start_send(std::size_t send) {
  if (watch) watch->send_started(send, now_ms());
  if (device && recording) device->mark_send(send);
  channel->start_send(send);
}

// A rank that computes makes no progress with messages, unless it asks.
void Executor::State::poll() {
  channel->poll();
  if (watch) watch->look(now_ms());
}

void Executor::State::compute(std::size_t stage) {
  // Messages progress before each stage (what they take then is theirs, as if awaited), and between
  // operators.
  void (*poll_between)(void*) = nullptr;
  double start = now_ms();
  if (channel) {
    poll_between = [](void* state) { static_cast<State*>(state)->poll(); };
    poll();
    const double before = std::exchange(start, now_ms());
    elsewhere_ms += start - before;
  }
  const BoundStage& ready = bound.stages(0)[stage];
  backend.run_stage(ready.groups, ready.shares, poll_between, this);
  const double end = now_ms();
  elsewhere_ms += end - start;
  if (recording) clocks.stages[stage] = {awaited_ms.value_or(start), 0, start, end};
  awaited_ms.reset();
}

// Returns the step behind it.
std::size_t Executor::State::queue_segment() {
  const double start = now_ms();
  if (channel) poll();
  const std::size_t next = device->run_next();
  elsewhere_ms += now_ms() - start;
  awaited_ms.reset();
  return next;
}

// Returns the step that comes next.
std::size_t Executor::State::run_step(std::size_t index) {
  const Step& step = plan.steps[index];
  if (const auto* receive = std::get_if<AwaitReceive>(&step)) {
    await_receive(receive->receive);
  } else if (const auto* sent = std::get_if<AwaitSend>(&step)) {
    wait([&] { channel->await_send(sent->send); });
    if (watch) watch->look(now_ms());
  } else if (const auto* send = std::get_if<StartSend>(&step)) {
    start_send(send->send);
  } else if (device) {
    return queue_segment();
  } else {
    compute(stage_of(step));
  }
  return index + 1;
}

// A stage is ready when the last of its tensors from other ranks is there; the first stage that
// needs one waits for it.
void Executor::State::note_ready_stages() {
  for (StageTimes& stage : clocks.stages) stage.ready_ms = 0;
  for (std::size_t i = 0; i < clocks.receives.size(); ++i) {
    double& ready_ms = clocks.stages[plan.receives[i].stage].ready_ms;
    ready_ms = std::max(ready_ms, clocks.receives[i].end_ms);
  }
}

void Executor::State::run_steps() {
  if (device) device->begin();
  if (channel) channel->start_receives();
  if (watch) watch->begin();
  for (std::size_t step = 0; step < plan.steps.size();) {
    progress.enter_step(step);
    step = run_step(step);
  }
  progress.enter_end_of_messages();
  if (channel) wait([&] { channel->finish(); });
  if (watch) watch->end(now_ms());
  progress.enter_end_on_device();
  if (device) wait([&] { device->end(clocks); });
  if (recording) note_ready_stages();
  progress.end_iteration();
}

Executor::Executor(const CoarseGraph& coarse, const Model& model, const RankPlan& plan,
                   Backend& backend, mpi::Transport& transport, TensorSource& source,
                   const ExecutorOptions& options)
    : state_(nullptr) {
  if (plan.in_flight != 1) throw std::logic_error("an executor of several inferences in flight");
  if (coarse.element_bytes != backend.element_bytes()) {
    throw std::logic_error("the graph's elements are of " + std::to_string(coarse.element_bytes) +
                           " bytes, the " + std::string(backend.name()) + " backend's of " +
                           std::to_string(backend.element_bytes()));
  }
  state_ = std::make_unique<State>(coarse, model, plan, backend, transport, source, options);
}

Executor::~Executor() = default;

double Executor::run_once() {
  State& state = *state_;
  state.elsewhere_ms = 0;
  state.awaited_ms.reset();
  state.begin = Clock::now();
  const auto fail = [&](const std::string& text, const Need& need = {}) {
    throw RunError("rank " + std::to_string(state.plan.rank.index()) + " on " +
                       state.transport.host() + ", " + current_step() + ": " + text,
                   need);
  };
  try {
    state.run_steps();
  } catch (const mpi::DeviceError& error) {
    const std::string suspects = suspects_text(state.device, state.plan, state.coarse.graph);
    fail(error.what() + suspects, suspects.empty() ? Need{} : need::FailedOperator{});
  } catch (const std::bad_alloc&) {
    fail("out of memory");
  } catch (const std::exception& error) {
    fail(error.what());
  }
  const double total = state.now_ms();
  state.overhead_ms = total - state.elsewhere_ms;
  return total;
}

void Executor::record_stages(bool on) {
  State& state = *state_;
  state.recording = on;
  if (on && state.channel && !state.own_watch) {
    state.own_watch.emplace(*state.channel, state.clocks.sends, state.clocks.receives);
  }
  state.watch = on && state.own_watch ? &*state.own_watch : nullptr;
  if (state.device) state.device->record_stages(on);
  state.operator_clocks.record(on);
}

const RunClocks& Executor::clocks() const { return state_->clocks; }

void Executor::time_device(bool on) { state_->device->time_whole(on); }
double Executor::device_ms() const { return state_->device->whole_ms(); }

RankTimeline Executor::timeline() const {
  const RunClocks& clocks = state_->clocks;
  const RankPlan& plan = state_->plan;
  const DeviceId here(plan.rank.index());
  RankTimeline timeline{clocks.stages, {}, {}};
  for (std::size_t i = 0; i < plan.sends.size(); ++i) {
    const PlannedMessage& send = plan.sends[i];
    const auto& [start_ms, end_ms] = clocks.sends[i];
    timeline.sends.push_back(
        {send.op, here, DeviceId(send.peer.index()), start_ms, end_ms, send.size_bytes});
  }
  for (std::size_t i = 0; i < plan.receives.size(); ++i) {
    const PlannedMessage& receive = plan.receives[i];
    const auto& [start_ms, end_ms] = clocks.receives[i];
    timeline.receives.push_back(
        {receive.op, DeviceId(receive.peer.index()), here, start_ms, end_ms, receive.size_bytes});
  }
  return timeline;
}

std::vector<OperatorTime> Executor::operator_times() const {
  const State& state = *state_;
  if (!state.device || !state.time_operators) return state.operator_clocks.times();
  return lone_operators(state.plan.stages, state.clocks.stages);
}

double Executor::overhead_ms() const { return state_->overhead_ms; }

std::vector<float> Executor::output(OpId op) const { return state_->bound.values(op); }

void Executor::close() {
  state_->watch = nullptr;
  state_->own_watch.reset();
  if (state_->channel) state_->channel->disconnect();
  state_->transport.barrier();
  state_->channel.reset();
}

std::string Executor::current_step() const {
  return standing_text(state_->progress.place(), state_->progress, state_->device, state_->plan,
                       state_->coarse.graph);
}

std::uint64_t Executor::progress() const { return state_->progress.count(); }

}  // namespace hios
