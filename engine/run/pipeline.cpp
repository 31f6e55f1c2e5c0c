// The steps of an inference are run by a StepLoop (step_loop.h). The pipeline's own is what happens
// between inferences, and that it never blocks in a wait: it looks after the messages of all buffer
// indices meanwhile.
//
// The channel of a buffer index does an iteration for each of its inferences. The channel is
// started, that is, its receives are posted, once the inference F before has ended here and its
// sends have been taken. That is checked whenever messages progress (post_ready), so that receives
// are posted ahead, as far as there are buffers. Sends are synchronous, also small ones, which MPI
// would otherwise pile up at the receiver.
//
// No deadlock: a rank that begins inference i has posted its receives. Within the inference it
// waits for messages of the same inference, in the order of the schedule; before the inference, for
// its receivers to begin inference i − F. So every wait is for an earlier inference, or for a step
// of the same one that precedes it in the schedule.
//
// Tests in tests/engine/run/: pipeline_test.cpp (random schedules, buffers and inferences against
// one rank, bit for bit; late messages; allocations), pipeline_mpi_test.cpp.
#include "engine/run/pipeline.h"

#include <algorithm>
#include <thread>

#include "engine/run/inference_data.h"
#include "engine/run/step_loop.h"
#include "mpi/accelerator.h"

namespace hios {
namespace {

constexpr unsigned kSpinsBeforeYield = 64;
constexpr unsigned kSpinsPerCheck = 256;

}  // namespace

/// The StepRunner of many inferences in flight.
struct Pipeline::State {
  State(const RankContext& rank, const RankPlan& rank_plan, const PipelineOptions& the_options);

  void run_all();
  void run_inference();
  void await_buffers();
  void finish_inference();
  void drain();

  // For the loop.
  void await_receive(std::size_t receive);
  void await_send(std::size_t send);
  void start_send(std::size_t send);
  void poll();
  void poll_between_operators();
  void stage_ended(std::size_t stage, const StageTimes& times);
  void segment_queued(double start_ms);

  template <class Done>
  void spin_until(Done&& done);
  void check_messages();
  void post_ready();
  void note_ends();
  void note_start(double start_ms);
  std::size_t buffer_of(std::size_t inference) const { return inference % buffers; }
  mpi::Channel* channel_of(std::size_t inference) {
    return loop.buffers()[buffer_of(inference)].channel.get();
  }
  std::size_t number(std::size_t inference) const {
    return options.first + inference * options.step;
  }

  const PipelineOptions options;
  const std::size_t buffers;
  StepLoop loop;
  InferenceData data;
  // On an asynchronous device, by buffer index: the end of an inference's work.
  std::vector<std::unique_ptr<mpi::DeviceEvent>> end_events;

  std::span<InferenceTimes> times;
  // Inferences of this run whose receives have been posted; whose steps are done here; which have
  // ended, on a device as the rank has seen.
  std::size_t posted = 0, done = 0, ended = 0;
  std::size_t before = 0;                // inferences of all runs before this one
  bool started = false;                  // a stage of the current inference
  std::vector<StageOfInference> traced;  // cyclic, from traced_next on
  std::size_t traced_next = 0;
};

Pipeline::State::State(const RankContext& rank, const RankPlan& rank_plan,
                       const PipelineOptions& the_options)
    : options(the_options),
      buffers(rank_plan.buffers),
      loop(rank, rank_plan, {.blocking = the_options.blocking, .many = true}),
      data(rank, loop.bound()),
      traced(loop.asynchronous() ? 0 : the_options.traced * rank_plan.stages.size()) {
  if (mpi::Accelerator* const accelerator = rank.backend.accelerator()) {
    for (std::size_t i = 0; i < buffers; ++i) {
      end_events.push_back(accelerator->make_event(/*shared=*/false));
    }
  }
}

void Pipeline::State::poll() {
  for (BufferSet& set : loop.buffers()) {
    if (set.channel) set.channel->poll();
  }
  if (loop.asynchronous()) note_ends();
  post_ready();
}

void Pipeline::State::poll_between_operators() {
  loop.meter().charge(&TimeShares::computing_ms);
  poll();
  loop.meter().charge(&TimeShares::transferring_ms);
}

// Inferences that have only been given to a device may still read their buffers.
void Pipeline::State::post_ready() {
  const std::size_t end = std::min(times.size(), ended + buffers);
  for (; posted < end; ++posted) {
    mpi::Channel* const channel = channel_of(posted);
    if (!channel) continue;
    if (!channel->finished()) return;
    channel->start_receives();
  }
}

void Pipeline::State::note_ends() {
  while (ended < done && end_events[buffer_of(ended)]->done()) {
    times[ended++].end_ms = loop.meter().last_ms();
  }
}

void Pipeline::State::note_start(double start_ms) {
  if (!started) times[done].start_ms = start_ms;
  started = true;
}

// In the last look, which ended the wait, a message or its last bytes went through, so that its
// time was a transfer's.
template <class Done>
void Pipeline::State::spin_until(Done&& is_done) {
  for (unsigned spins = 0; !is_done(); ++spins) {
    poll();
    loop.meter().charge(is_done() ? &TimeShares::transferring_ms : &TimeShares::waiting_ms);
    if (spins >= kSpinsBeforeYield) std::this_thread::yield();
    if (spins % kSpinsPerCheck == kSpinsPerCheck - 1) check_messages();
  }
}

// A message that a device waits for, and that will never come, is noticed by asking alone.
void Pipeline::State::check_messages() {
  for (const BufferSet& set : loop.buffers()) {
    if (set.channel) set.channel->check();
  }
}

void Pipeline::State::await_buffers() {
  if (loop.asynchronous()) {
    loop.progress().enter_end_on_device();
    spin_until([&] { return ended + buffers > done; });
  }
  loop.progress().enter_end_of_messages();
  spin_until([&] { return posted > done; });
}

// The channel's own await, which returns at once, puts the device's later work after the receive.
void Pipeline::State::await_receive(std::size_t receive) {
  mpi::Channel* const channel = channel_of(done);
  spin_until([&] { return channel->received(receive); });
  channel->await_receive(receive);
  loop.meter().charge(&TimeShares::transferring_ms);
}

void Pipeline::State::await_send(std::size_t send) {
  mpi::Channel* const channel = channel_of(done);
  spin_until([&] { return channel->sent(send); });
  channel->await_send(send);
}

void Pipeline::State::start_send(std::size_t send) {
  loop.meter().charge(&TimeShares::own_ms);
  channel_of(done)->start_send(send);
  loop.meter().charge(&TimeShares::transferring_ms);
}

void Pipeline::State::stage_ended(std::size_t stage, const StageTimes& stage_times) {
  note_start(stage_times.start_ms);
  if (traced.empty()) return;
  traced[traced_next] = {number(done), stage, stage_times.awaited_ms, stage_times.start_ms,
                         stage_times.end_ms};
  traced_next = (traced_next + 1) % traced.size();
}

void Pipeline::State::segment_queued(double start_ms) {
  note_start(start_ms);
  loop.meter().charge(&TimeShares::own_ms);
}

void Pipeline::State::run_inference() {
  await_buffers();
  started = false;
  loop.meter().charge(&TimeShares::own_ms);
  data.bring_input(number(done));
  loop.meter().charge(&TimeShares::transferring_ms);
  loop.run_steps(buffer_of(done), *this);
  finish_inference();
  loop.progress().end_iteration();
  post_ready();
}

void Pipeline::State::finish_inference() {
  loop.meter().charge(&TimeShares::own_ms);
  data.keep_outputs(number(done), buffer_of(done));
  const double now_ms = loop.meter().charge(&TimeShares::transferring_ms);
  note_start(now_ms);
  if (loop.asynchronous()) {
    loop.rank().backend.accelerator()->record(*end_events[buffer_of(done)], mpi::Queue::kWork);
  } else {
    times[done].end_ms = now_ms;
    ++ended;
  }
  ++done;
}

// Receivers may need this rank to push on the messages that it sent last.
void Pipeline::State::drain() {
  loop.progress().enter_end_of_messages();
  spin_until([&] {
    return std::ranges::all_of(loop.buffers(), [](const BufferSet& set) {
      return !set.channel || set.channel->finished();
    });
  });
  if (!loop.asynchronous()) return;
  loop.progress().enter_end_on_device();
  spin_until([&] { return ended == done; });
  loop.rank().backend.synchronize();
}

void Pipeline::State::run_all() {
  loop.meter().begin();
  data.begin();
  posted = done = ended = 0;
  traced_next = 0;
  std::ranges::fill(traced, StageOfInference{});
  loop.progress().number_iterations(options.first + before * options.step, options.step);
  before += times.size();
  post_ready();
  while (done < times.size()) run_inference();
  drain();
  loop.progress().leave();
  loop.meter().charge(&TimeShares::own_ms);
}

Pipeline::Pipeline(const RankContext& rank, const RankPlan& plan, const PipelineOptions& options)
    : state_(std::make_unique<State>(rank, plan, options)) {}

Pipeline::~Pipeline() = default;

void Pipeline::close() { state_->loop.close(); }

void Pipeline::run(std::span<InferenceTimes> times) {
  state_->times = times;
  try {
    state_->run_all();
  } catch (...) {
    state_->loop.rethrow();
  }
}

const TimeShares& Pipeline::shares() const { return state_->loop.meter().shares(); }

double Pipeline::began_ms() const { return state_->loop.meter().began_ms(); }

bool Pipeline::idle() const { return state_->loop.plan().stages.empty(); }

bool Pipeline::knows_computing() const { return !state_->loop.asynchronous(); }

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

std::string Pipeline::current_step() const { return state_->loop.current_step(); }

std::uint64_t Pipeline::progress() const { return state_->loop.progress().count(); }

}  // namespace hios
