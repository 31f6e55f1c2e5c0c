// The steps of an inference are the plan's, as the executor runs them (executor.cpp); what is new
// is what happens between inferences.
//
// A place's channel does an iteration for each of its inferences. It is started, that is, its
// receives are posted, once the inference that had the place before has ended here and all that it
// sent has been taken: looked at whenever messages progress (post_ready), so that receives are
// posted ahead, as far as there are places. Sends are synchronous, also small ones, which MPI would
// otherwise pile up at the receiver.
//
// No deadlock: a rank that begins inference i has posted its receives. What it awaits then, it
// awaits of the same inference, in the order of the schedule; and before the inference, of its
// receivers that they begin inference i − in_flight. So every wait is for an earlier inference, or
// for a step of the same one that the schedule puts first.
//
// Time is charged where it changes hands, with one reading of the clock (Meter).
// Tests: pipeline_test.cpp (random schedules, places and inferences against one rank, bit for bit;
// late messages; allocations), pipeline_mpi_test.cpp.
#include "engine/run/pipeline.h"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <thread>

#include "engine/host/clock.h"
#include "engine/run/bound_plan.h"
#include "engine/run/device_stages.h"
#include "engine/run/inference_data.h"
#include "engine/run/position_text.h"
#include "engine/run/step_progress.h"
#include "hios/base/error.h"
#include "hios/base/need.h"

namespace hios {
namespace {

constexpr unsigned kTurnsBeforeYield = 64;

/// Whose time it was since the clock was read last.
class Meter {
 public:
  void begin() {
    begin_ = Clock::now();
    last_ms_ = 0;
    shares_ = {};
  }
  /// Returns the time now.
  double charge(double TimeShares::*share) {
    const double now = ms_between(begin_, Clock::now());
    shares_.*share += now - last_ms_;
    last_ms_ = now;
    return now;
  }
  double last_ms() const { return last_ms_; }
  double began_ms() const { return ms_between({}, begin_); }
  const TimeShares& shares() const { return shares_; }

 private:
  Clock::time_point begin_;
  double last_ms_ = 0;
  TimeShares shares_;
};

/// What belongs to one of the places that inferences take in turn.
struct Turn {
  std::optional<DeviceStages> device;       // where the backend is asynchronous
  std::unique_ptr<mpi::DeviceEvent> ended;  // the same: an inference's work
  std::unique_ptr<mpi::Channel> channel;    // none where no message is planned
};

}  // namespace

struct Pipeline::State {
  State(const CoarseGraph& coarse_graph, const Model& model, const RankPlan& rank_plan,
        Backend& the_backend, mpi::Transport& the_transport, TensorSource& source,
        const PipelineOptions& the_options);

  void open_channels();
  void run_all();
  void run_inference();
  std::size_t run_step(Turn& turn, std::size_t step);
  void compute(std::size_t stage);
  void await_places();
  void await_receive(Turn& turn, std::size_t receive);
  void drain();

  template <class Done>
  void spin_until(Done&& done);
  void poll();
  void post_ready();
  void note_ends();
  Turn& turn_of(std::size_t inference) { return turns[inference % turns.size()]; }
  std::size_t number(std::size_t inference) const {
    return options.first + inference * options.step;
  }

  const CoarseGraph& coarse;
  const RankPlan& plan;
  Backend& backend;
  mpi::Transport& transport;
  const PipelineOptions options;

  StepProgress progress;
  BoundPlan bound;
  InferenceData data;
  std::vector<Turn> turns;  // last: requests go before the memory that they use

  Meter meter;
  std::span<InferenceTimes> times;
  // Of this run: inferences whose receives have been posted; whose steps are done here; which have
  // ended, on a device as seen.
  std::size_t posted = 0, done = 0, ended = 0;
  std::size_t before = 0;                // inferences of all runs before this one
  bool begun = false;                    // a stage of the inference under way
  double awaited_ms = -1;                // when the coming stage began to wait; -1: it did not
  std::vector<StageOfInference> traced;  // a ring
  std::size_t traced_next = 0;
};

Pipeline::State::State(const CoarseGraph& coarse_graph, const Model& model,
                       const RankPlan& rank_plan, Backend& the_backend,
                       mpi::Transport& the_transport, TensorSource& source,
                       const PipelineOptions& the_options)
    : coarse(coarse_graph),
      plan(rank_plan),
      backend(the_backend),
      transport(the_transport),
      options(the_options),
      progress(rank_plan, coarse_graph.graph, the_transport.recorder()),
      bound(coarse_graph, model, rank_plan, the_backend, source, {progress}),
      data(model, bound, source),
      turns(rank_plan.places),
      traced(the_backend.accelerator() ? 0 : the_options.traced * rank_plan.stages.size()) {
  for (std::size_t place = 0; place < turns.size(); ++place) {
    Turn& turn = turns[place];
    if (mpi::Accelerator* const accelerator = backend.accelerator()) {
      turn.device.emplace(plan, coarse.graph, backend, bound.stages(place), transport.host(),
                          options.blocking);
      turn.ended = accelerator->make_event(/*shared=*/false);
    }
  }
  open_channels();
}

// As many on all ranks, for transports open channels on all together; those without messages are
// not kept.
void Pipeline::State::open_channels() {
  for (std::size_t place = 0; place < plan.in_flight; ++place) {
    if (plan.sends.empty() && plan.receives.empty()) {
      transport.open_channel({}, {});
      continue;
    }
    std::vector<mpi::Message> sends = bound.sends(place);
    for (mpi::Message& message : sends) message.synchronous = true;
    turns[place].channel = transport.open_channel(sends, bound.receives(place));
  }
}

// A rank that computes makes no progress with messages, unless it asks.
void Pipeline::State::poll() {
  for (Turn& turn : turns) {
    if (turn.channel) turn.channel->poll();
  }
  if (backend.accelerator()) note_ends();
  post_ready();
}

void Pipeline::State::post_ready() {
  // What a device has only been given may still read the places.
  const std::size_t may = std::min(times.size(), ended + turns.size());
  for (; posted < may; ++posted) {
    mpi::Channel* const channel = turn_of(posted).channel.get();
    if (!channel) continue;
    if (!channel->finished()) return;
    channel->start_receives();
  }
}

void Pipeline::State::note_ends() {
  while (ended < done && turn_of(ended).ended->done()) times[ended++].end_ms = meter.last_ms();
}

// Whatever the clock shows for a look that ended the wait, a message or its last part went through
// in it.
template <class Done>
void Pipeline::State::spin_until(Done&& is_done) {
  for (unsigned turns_spun = 0; !is_done(); ++turns_spun) {
    poll();
    meter.charge(is_done() ? &TimeShares::transferring_ms : &TimeShares::waiting_ms);
    if (turns_spun >= kTurnsBeforeYield) std::this_thread::yield();
  }
}

void Pipeline::State::await_places() {
  if (backend.accelerator()) {
    progress.enter_end_on_device();
    spin_until([&] { return ended + turns.size() > done; });
  }
  progress.enter_end_of_messages();
  spin_until([&] { return posted > done; });
}

void Pipeline::State::await_receive(Turn& turn, std::size_t receive) {
  if (awaited_ms < 0) awaited_ms = meter.charge(&TimeShares::own_ms);
  spin_until([&] { return turn.channel->received(receive); });
  turn.channel->await_receive(receive);  // which puts a device's work behind it
  meter.charge(&TimeShares::transferring_ms);
}

void Pipeline::State::compute(std::size_t stage) {
  meter.charge(&TimeShares::own_ms);
  void (*poll_between)(void*) = nullptr;
  if (turns.front().channel) {
    poll();
    poll_between = [](void* argument) {
      State& state = *static_cast<State*>(argument);
      state.meter.charge(&TimeShares::computing_ms);
      state.poll();
      state.meter.charge(&TimeShares::transferring_ms);
    };
  }
  const double start_ms = meter.charge(&TimeShares::transferring_ms);
  if (!begun) times[done].start_ms = start_ms;
  begun = true;
  const BoundStage& ready = bound.stages(done % turns.size())[stage];
  backend.run_stage(ready.groups, ready.shares, poll_between, this);
  const double end_ms = meter.charge(&TimeShares::computing_ms);
  if (!traced.empty()) {
    traced[traced_next] = {number(done), stage, awaited_ms < 0 ? start_ms : awaited_ms, start_ms,
                           end_ms};
    traced_next = (traced_next + 1) % traced.size();
  }
  awaited_ms = -1;
}

// Returns the step that comes next.
std::size_t Pipeline::State::run_step(Turn& turn, std::size_t index) {
  const Step& step = plan.steps[index];
  if (const auto* receive = std::get_if<AwaitReceive>(&step)) {
    await_receive(turn, receive->receive);
  } else if (const auto* sent = std::get_if<AwaitSend>(&step)) {
    spin_until([&] { return turn.channel->sent(sent->send); });
    turn.channel->await_send(sent->send);
  } else if (const auto* send = std::get_if<StartSend>(&step)) {
    meter.charge(&TimeShares::own_ms);
    turn.channel->start_send(send->send);
    meter.charge(&TimeShares::transferring_ms);
  } else if (turn.device) {
    poll();
    if (!begun) times[done].start_ms = meter.charge(&TimeShares::own_ms);
    begun = true;
    return turn.device->run_next();
  } else {
    compute(stage_of(step));
  }
  return index + 1;
}

void Pipeline::State::run_inference() {
  await_places();
  Turn& turn = turn_of(done);
  begun = false;
  meter.charge(&TimeShares::own_ms);
  data.bring_input(number(done));
  meter.charge(&TimeShares::transferring_ms);
  if (turn.device) turn.device->begin();
  for (std::size_t step = 0; step < plan.steps.size();) {
    progress.enter_step(step);
    step = run_step(turn, step);
  }
  meter.charge(&TimeShares::own_ms);
  data.keep_outputs(number(done), done % turns.size());
  const double now_ms = meter.charge(&TimeShares::transferring_ms);
  if (!begun) times[done].start_ms = now_ms;
  if (turn.ended) {
    backend.accelerator()->record(*turn.ended, mpi::Queue::kWork);
  } else {
    times[done].end_ms = now_ms;
    ++ended;
  }
  ++done;
  progress.end_iteration();
  post_ready();
}

/// Whoever takes what was sent last may need this rank to push it on.
void Pipeline::State::drain() {
  progress.enter_end_of_messages();
  spin_until([&] {
    return std::ranges::all_of(
        turns, [](const Turn& turn) { return !turn.channel || turn.channel->finished(); });
  });
  if (!backend.accelerator()) return;
  progress.enter_end_on_device();
  spin_until([&] { return ended == done; });
  backend.synchronize();
}

void Pipeline::State::run_all() {
  meter.begin();
  data.begin();
  posted = done = ended = 0;
  traced_next = 0;
  std::ranges::fill(traced, StageOfInference{});
  awaited_ms = -1;
  progress.number_iterations(options.first + before * options.step, options.step);
  before += times.size();
  post_ready();
  while (done < times.size()) run_inference();
  drain();
  progress.leave();
  meter.charge(&TimeShares::own_ms);
}

Pipeline::Pipeline(const CoarseGraph& coarse, const Model& model, const RankPlan& plan,
                   Backend& backend, mpi::Transport& transport, TensorSource& source,
                   const PipelineOptions& options)
    : state_(std::make_unique<State>(coarse, model, plan, backend, transport, source, options)) {}

Pipeline::~Pipeline() = default;

void Pipeline::close() {
  for (Turn& turn : state_->turns) {
    if (turn.channel) turn.channel->disconnect();
  }
  state_->transport.barrier();
  for (Turn& turn : state_->turns) turn.channel.reset();
}

void Pipeline::run(std::span<InferenceTimes> times) {
  State& state = *state_;
  state.times = times;
  const auto fail = [&](const std::string& text, const Need& need = {}) {
    throw RunError("rank " + std::to_string(state.plan.rank.index()) + " on " +
                       state.transport.host() + ", " + current_step() + ": " + text,
                   need);
  };
  try {
    state.run_all();
  } catch (const mpi::DeviceError& error) {
    const std::string suspects =
        suspects_text(state.turn_of(state.done).device, state.plan, state.coarse.graph);
    fail(error.what() + suspects, suspects.empty() ? Need{} : need::FailedOperator{});
  } catch (const std::bad_alloc&) {
    fail("out of memory");
  } catch (const std::exception& error) {
    fail(error.what());
  }
}

const TimeShares& Pipeline::shares() const { return state_->meter.shares(); }

double Pipeline::began_ms() const { return state_->meter.began_ms(); }

bool Pipeline::idle() const { return state_->plan.stages.empty(); }

bool Pipeline::knows_computing() const { return !state_->backend.accelerator(); }

std::vector<StageOfInference> Pipeline::trace() const {
  std::vector<StageOfInference> stages;
  for (const StageOfInference& stage : state_->traced) {
    if (stage.end_ms > 0) stages.push_back(stage);
  }
  std::ranges::sort(stages, {}, &StageOfInference::start_ms);
  return stages;
}

std::size_t Pipeline::unlike() const { return state_->data.unlike(); }

bool Pipeline::ran(std::size_t input) const { return state_->data.ran(input); }

std::vector<float> Pipeline::output(OpId op, std::size_t input) const {
  return state_->data.output(op, input);
}

std::string Pipeline::current_step() const {
  const State& state = *state_;
  const std::size_t place = state.progress.place();
  const std::string text = standing_text(place, state.progress, state.turns.front().device,
                                         state.plan, state.coarse.graph);
  if (place == StepProgress::kBetween) return text;
  return "inference " + std::to_string(state.progress.iteration()) + ", " + text;
}

std::uint64_t Pipeline::progress() const { return state_->progress.count(); }

}  // namespace hios
