// MPI knows no streams and cannot be part of a recording, so a recording holds the stages between
// two message steps. One call a segment, instead of one a kernel, makes short kernels worth a GPU.
// The device itself keeps the order between segments and messages, since both are in order with its
// work queue; so nothing here waits before end(). Tests: tests/engine/run/device_executor_test.cpp
// on a fake device that runs its queues as late as it may.
#include "engine/run/device_stages.h"

#include <algorithm>
#include <string>
#include <thread>
#include <tuple>
#include <utility>

#include "engine/run/plan/step_text.h"
#include "hios/base/error.h"
#include "hios/base/log.h"
#include "hios/base/need.h"

namespace hios {
namespace {

// Mark 0 is the start of the iteration. Then come two marks a stage, one a send, two a receive, the
// two around all stages, and those of the loads.
constexpr std::size_t kOrigin = 0;
constexpr std::size_t start_mark(std::size_t stage) { return 1 + 2 * stage; }
constexpr std::size_t end_mark(std::size_t stage) { return 2 + 2 * stage; }

bool has_messages(const RankPlan& plan) {
  return !plan.sends.empty() || !plan.receives.empty() || plan.exchange.any;
}

}  // namespace

DeviceStages::DeviceStages(const RankPlan& plan, const Graph& graph, Backend& backend,
                           std::span<const BoundStage> stages, const std::string& host,
                           bool blocking, const Cold& cold, mpi::Channel* messages)
    : plan_(plan),
      graph_(graph),
      backend_(backend),
      stages_(stages),
      cold_(cold),
      whole_(cold.loads && !has_messages(plan)),
      messages_(blocking ? nullptr : messages),
      segments_(whole_ || messages_ ? std::vector<Segment>{{0, plan.steps.size()}}
                                    : cut_segments(plan.steps)),
      host_(host),
      blocking_(blocking) {
  if (messages_) ended_ = backend_.accelerator()->make_event(/*shared=*/false);
  switch_to(Readings::kNone, cold.loads != nullptr);
}

DeviceStages::Recordings DeviceStages::record_all() {
  Recordings recordings;
  for (const Segment& segment : segments_) {
    recordings.push_back(blocking_ ? nullptr : record(segment));
  }
  return recordings;
}

std::unique_ptr<Recording> DeviceStages::record(const Segment& segment) {
  // The backend queues all once before it records it: for that, messages do not move, since another
  // rank's device may refuse.
  bool moves = false;
  try {
    return backend_.record([&] { queue(segment, std::exchange(moves, true)); },
                           messages_ ? &messages_refused_ : nullptr);
  } catch (const mpi::DeviceError& error) {
    throw RunError("rank " + std::to_string(plan_.rank.index()) + " on " + host_ + ", running " +
                       describe(segment, plan_, graph_) + " for the first time: " + error.what() +
                       "; the device had been given " + by_stream({&segment, 1}, plan_, graph_),
                   need::FailedOperator{});
  }
}

void DeviceStages::queue(const Segment& segment, bool moves) {
  moves = moves && messages_;
  if (moves) messages_->begin_recording();
  const bool all = readings_ == Readings::kAroundAll;
  if (all && segment.first == segments_.front().first) marks_->mark(whole_mark());
  if (whole_ && loading_) begin_loads();
  for (std::size_t i = segment.first; i < segment.end; ++i) {
    const Step& step = plan_.steps[i];
    if (const auto* const stage = std::get_if<Compute>(&step)) {
      queue_stage(stage->stage);
    } else if (const auto* const load = std::get_if<AwaitLoad>(&step); load && loading_) {
      cold_.loads->order_after(load->lane, load->load);
    } else if (const auto* const evict = std::get_if<Evict>(&step);
               evict && loading_ && cold_.evicted) {
      cold_.evicted->evict(evict->eviction);
    } else if (moves) {
      queue_message(step);
    }
  }
  if (moves) messages_->end_recording(/*complete=*/true);
  if (whole_ && loading_) cold_.loads->finish();
  if (all && segment.end == segments_.back().end) marks_->mark(whole_mark() + 1);
}

void DeviceStages::queue_message(const Step& step) {
  const bool timed = readings_ == Readings::kAroundStages;
  if (const auto* const send = std::get_if<StartSend>(&step)) {
    if (timed) mark_send(send->send);
    messages_->start_send(send->send);
    messages_->poll();
  } else if (const auto* const sent = std::get_if<AwaitSend>(&step)) {
    messages_->await_send(sent->send);
  } else if (const auto* const receive = std::get_if<AwaitReceive>(&step)) {
    if (timed) mark_wait(receive->receive);
    messages_->await_receive(receive->receive);
    if (timed) mark_receive(receive->receive);
  }
}

void DeviceStages::queue_stage(std::size_t stage) {
  const bool timed = readings_ == Readings::kAroundStages;
  if (timed) marks_->mark(start_mark(stage));
  if (blocking_) {
    run_one_by_one(stage);
  } else {
    backend_.run_stage(stages_[stage].groups, stages_[stage].shares, nullptr, nullptr);
  }
  if (timed) marks_->mark(end_mark(stage));
}

void DeviceStages::begin_loads() {
  const bool timed = readings_ == Readings::kAroundStages;
  cold_.loads->begin(timed ? marks_.get() : nullptr, load_marks());
}

// Each operator is a stage of its own. The device is waited for before the operator as well, so
// that a transfer's failure is not taken for the operator's. These waits end, since nothing on a
// device waits for a host.
void DeviceStages::run_one_by_one(std::size_t stage) {
  for (std::size_t g = 0; g < stages_[stage].groups.size(); ++g) {
    const CoreShare& share = stages_[stage].shares[g];
    for (std::size_t i = 0; i < stages_[stage].groups[g].size(); ++i) {
      const std::string& name = graph_.op(plan_.stages[stage].groups[g][i]).name;
      bool reached = false;
      try {
        backend_.synchronize();
        reached = true;
        const BoundGroup alone{stages_[stage].groups[g][i]};
        backend_.run_stage({&alone, 1}, {&share, 1}, nullptr, nullptr);
        backend_.synchronize();
      } catch (const std::exception& error) {
        const std::string where = name + " on stream " + std::to_string(share.stream.index()) +
                                  ", stage " + std::to_string(stage);
        if (reached) throw RunError("operator " + where + ", failed: " + error.what());
        throw RunError("a transfer before operator " + where + ", failed: " + error.what());
      }
    }
  }
}

// Where a recording cannot be made, the earlier ones stay in use.
void DeviceStages::switch_to(Readings readings, bool loading) {
  if (readings != Readings::kNone && !marks_) {
    marks_ = backend_.make_marks(load_marks() + (cold_.loads ? cold_.loads->marks() : 0));
  }
  const auto before =
      std::pair(std::exchange(readings_, readings), std::exchange(loading_, loading));
  if (!recordings().empty()) return;
  try {
    keep(record_all());
  } catch (...) {
    std::tie(readings_, loading_) = before;
    throw;
  }
}

// The other ranks do not know of a device that refuses later than at first.
void DeviceStages::keep(Recordings made) {
  if (messages_ && !made.front() && recorded_messages_) {
    throw RunError("rank " + std::to_string(plan_.rank.index()) + " on " + host_ +
                       ": the device recorded messages with its stages, but not with readings of "
                       "its clock as well: " +
                       messages_refused_,
                   need::OtherRoute{});
  }
  recorded_messages_ = messages_ && made.front();
  recordings() = std::move(made);
}

void DeviceStages::leave_messages() {
  if (!messages_) return;
  if (!messages_refused_.empty()) {
    log::warning("the device refused to record messages with its stages (" + messages_refused_ +
                 "), so the host queues them between stages; newer libraries may record them, and "
                 "the routes ipc and staged need no recorded messages");
  }
  messages_->end_recording(/*complete=*/false);
  messages_ = nullptr;
  segments_ = cut_segments(plan_.steps);
  destroy_recordings();
  keep(record_all());
}

void DeviceStages::destroy_recordings() {
  for (Recordings& made : recordings_) made.clear();
}

void DeviceStages::load(bool on) { switch_to(readings_, on && cold_.loads); }

void DeviceStages::record_stages(bool on) {
  switch_to(on ? Readings::kAroundStages : Readings::kNone, loading_);
}

void DeviceStages::time_whole(bool on) {
  switch_to(on ? Readings::kAroundAll : Readings::kNone, loading_);
}

void DeviceStages::begin() {
  next_ = 0;
  if (readings_ == Readings::kAroundStages) marks_->mark(kOrigin);
  if (loading_ && !whole_) begin_loads();
}

std::size_t DeviceStages::run_next() {
  const Segment& segment = segments_[next_];
  Recording* const recording = recordings()[next_].get();
  ++next_;
  if (recording) {
    recording->replay();
  } else {
    queue(segment);
  }
  return segment.end;
}

std::size_t DeviceStages::send_mark(std::size_t send) const {
  return start_mark(stages_.size()) + send;
}

std::size_t DeviceStages::wait_mark(std::size_t receive) const {
  return send_mark(plan_.sends.size()) + 2 * receive;
}

void DeviceStages::mark_send(std::size_t send) { marks_->mark(send_mark(send)); }
void DeviceStages::mark_wait(std::size_t receive) { marks_->mark(wait_mark(receive)); }
void DeviceStages::mark_receive(std::size_t receive) { marks_->mark(wait_mark(receive) + 1); }

void DeviceStages::end(RunClocks& clocks, double began_ms) {
  if (loading_ && !whole_) cold_.loads->finish();
  if (messages_) await_messages();
  backend_.synchronize();
  if (readings_ != Readings::kAroundStages) return;
  read_clocks(clocks);
  if (loading_) cold_.loads->read_clocks(*marks_, kOrigin, load_marks(), began_ms);
}

/// Waits for the end of a recording that moves messages. A message that will never come is noticed
/// by asking alone: the device would wait for it forever, and so would the host.
void DeviceStages::await_messages() {
  constexpr std::size_t kTurnsPerCheck = 256;
  backend_.accelerator()->record(*ended_, mpi::Queue::kWork);
  for (std::size_t turns = 1; !ended_->done(); ++turns) {
    if (turns % kTurnsPerCheck != 0) continue;
    messages_->check();
    std::this_thread::yield();
  }
}

// If the device waited for a stage's inputs, it did so from the end of the stage before: a wait of
// the host while the device had work cost nothing.
void DeviceStages::read_clocks(RunClocks& clocks) const {
  double before_ms = 0;
  for (std::size_t step = 0; step < plan_.steps.size(); ++step) {
    if (!std::holds_alternative<Compute>(plan_.steps[step])) continue;
    const std::size_t stage = stage_of(plan_.steps[step]);
    StageTimes& clock = clocks.stages[stage];
    clock.start_ms = marks_->ms(kOrigin, start_mark(stage));
    clock.end_ms = marks_->ms(kOrigin, end_mark(stage));
    const bool awaited = step > 0 && is_wait(plan_.steps[step - 1]);
    clock.awaited_ms = awaited ? before_ms : clock.start_ms;
    before_ms = clock.end_ms;
  }
  for (std::size_t i = 0; i < clocks.sends.size(); ++i) {
    MessageClock& clock = clocks.sends[i];
    clock.start_ms = marks_->ms(kOrigin, send_mark(i));
    clock.end_ms = std::max(clock.start_ms, clock.end_ms);
  }
  for (std::size_t i = 0; i < clocks.receives.size(); ++i) {
    clocks.receives[i] = {marks_->ms(kOrigin, wait_mark(i)), marks_->ms(kOrigin, wait_mark(i) + 1)};
  }
}

}  // namespace hios
