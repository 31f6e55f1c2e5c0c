// The clock is read where a rank's time changes hands: around a stage's kernels, around a wait. The
// step that runs is published by one relaxed atomic store a step (StepProgress), by which a
// watchdog names the step in which a rank hangs.
//
// An asynchronous device is only given its stages (engine/run/device_stages.h), a segment at a
// time, and is waited for at the end. Messages between two segments are the channel's, whose work
// is in order with the device's. A device reports a failure when it is asked, not when it happens,
// so the message names all operators that the device had been given.
//
// Tests in tests/engine/run/: executor_test.cpp, device_executor_test.cpp and pipeline_test.cpp
// (results against one rank, bit for bit), device_failures_test.cpp (messages), allocation_test.cpp
// (no allocation).
#include "engine/run/step_loop.h"

#include <algorithm>
#include <functional>
#include <new>
#include <stdexcept>
#include <utility>

#include "engine/run/plan/step_text.h"
#include "hios/base/error.h"
#include "hios/base/log.h"
#include "hios/base/need.h"
#include "mpi/exchange.h"

namespace hios {

StepLoop::StepLoop(const RankContext& rank, const RankPlan& plan, const Options& options)
    : rank_(rank),
      plan_(plan),
      options_(options),
      has_messages_(!plan.sends.empty() || !plan.receives.empty() || plan.exchange.any),
      progress_(plan, rank.graph(), rank.transport.recorder()),
      bound_(rank, plan, {progress_, options.clocks}),
      buffers_(plan.buffers) {
  if (plan.has_parameters() || plan.exchange.any) open_loads();
  open_channels();
  open_devices();
  if (plan.any_order) {
    if (asynchronous()) throw std::logic_error("stages in any order on an asynchronous device");
    blocks_ = ready_order(plan, rank.graph());
    open_.emplace(blocks_);
  }
}

/// Returns true if this rank's device can move all of its messages without the host. It may not
/// where several inferences are in flight, or loads travel, too.
bool StepLoop::may_record_messages() const {
  if (options_.many || options_.blocking || plan_.has_parameters() || plan_.exchange.any) {
    return false;
  }
  return std::ranges::all_of(buffers_, [&](const BufferSet& set) {
    return !set.channel || (asynchronous() && set.channel->recordable());
  });
}

/// Returns true if this holds on all ranks. Collective where messages may be recorded.
bool StepLoop::all_ranks(bool one) const {
  if (!rank_.transport.records_messages()) return one;
  return std::ranges::all_of(mpi::gather(rank_.transport, one), std::identity());
}

// A library may ask that a message is recorded on both of its ranks or on neither. One rank may
// have messages by other routes as well, and its device may refuse; so all ranks record messages or
// none does.
void StepLoop::open_devices() {
  const bool record = all_ranks(may_record_messages());
  const DeviceStages::Cold cold{device_loads_, options_.overwrites_evicted ? kept_.get() : nullptr};
  bool recorded = true;
  for (std::size_t i = 0; asynchronous() && i < buffers_.size(); ++i) {
    buffers_[i].device.emplace(plan_, rank_.graph(), rank_.backend, bound_.stages(i),
                               rank_.transport.host(), options_.blocking, cold,
                               record ? buffers_[i].channel.get() : nullptr);
    recorded = recorded && buffers_[i].device->recorded_messages();
  }
  if (!record || all_ranks(recorded)) return;
  for (BufferSet& set : buffers_) {
    if (set.device) set.device->leave_messages();
  }
}

void StepLoop::await_loads(bool wait) {
  awaits_loads_ = wait;
  for (BufferSet& set : buffers_) {
    if (set.device) set.device->load(wait);
  }
}

// Parameters are kept while operators' memory has them, and before recordings run them.
void StepLoop::open_loads() {
  const std::string who = "rank " + std::to_string(plan_.rank.index());
  const auto memory_of = [this](OpId op) { return bound_.parameter_memory(op); };
  kept_ = std::make_unique<KeptParameters>(
      rank_.backend, plan_.lanes, memory_of, [this](OpId op) { return rank_.graph().op(op).name; },
      options_.loads, who);
  // Batches of one operator share its memory, which others of them may read.
  if (!rank_.graph().batching()) kept_->add_unread(plan_.in_place, memory_of);
  kept_->add_evictions(plan_.evictions, memory_of, who);
  if (!plan_.lanes.empty()) asynchronous() ? open_device_loads() : open_loader();
  if (!plan_.exchange.any) return;
  courier_ =
      std::make_unique<LoadCourier>(rank_.transport, rank_.backend, rank_.graph(), plan_.exchange,
                                    plan_.lanes, plan_.tags, loader_.get(), memory_of);
}

void StepLoop::open_loader() {
  loader_ =
      std::make_unique<Loader>(kept_->lanes(), options_.loads.cores, closed_loads(),
                               options_.loads.packed ? &options_.loads.packed->file() : nullptr,
                               options_.loads.pace ? paced() : Loader::BeforeCopy());
}

void StepLoop::open_device_loads() {
  std::vector<DeviceLoads::Lane> lanes;
  const auto closed = closed_loads();
  for (std::size_t l = 0; l < plan_.lanes.size(); ++l) {
    const std::size_t loads = plan_.lanes[l].size();
    lanes.push_back({plan_.lanes[l].front().lane, kept_->lanes()[l],
                     std::vector<bool>(loads, false), closed[l]});
    lanes.back().awaited[loads - 1] = true;
  }
  const auto await = [&](std::size_t lane, std::size_t load) { lanes[lane].awaited[load] = true; };
  for (const Step& step : plan_.steps) {
    if (const auto* const wait = std::get_if<AwaitLoad>(&step)) await(wait->lane, wait->load);
  }
  for (const ParameterSend& send : plan_.exchange.sends) {
    for (const LocalLoad& load : send.after) await(load.lane, load.load);
  }
  for (const BatonSend& baton : plan_.exchange.batons_sent) {
    await(baton.after.lane, baton.after.load);
  }
  auto loads = std::make_unique<DeviceLoads>(*rank_.backend.accelerator(), std::move(lanes));
  device_loads_ = loads.get();
  loader_ = std::move(loads);
}

/// Returns the loads that wait for other ranks, by lane.
std::vector<std::vector<std::size_t>> StepLoop::closed_loads() const {
  std::vector<std::vector<std::size_t>> closed;
  for (const auto& lane : plan_.lanes) {
    closed.emplace_back();
    for (std::size_t i = 0; i < lane.size(); ++i) {
      if (lane[i].from || lane[i].baton) closed.back().push_back(i);
    }
  }
  return closed;
}

/// Returns the wait of a load from a store on an emulated machine. What ranks send takes its time
/// as messages.
Loader::BeforeCopy StepLoop::paced() const {
  return [&lanes = plan_.lanes, pace = options_.loads.pace](std::size_t lane, std::size_t load,
                                                            const std::atomic<bool>& stop) {
    const PlannedLoad& planned = lanes[lane][load];
    if (!planned.from) pace->load(planned.lane, planned.index, stop);
  };
}

// Opens as many channels on all ranks, because transports may open them on all ranks together.
// Channels without messages are not kept.
void StepLoop::open_channels() {
  for (std::size_t i = 0; i < plan_.in_flight; ++i) {
    if (plan_.sends.empty() && plan_.receives.empty()) {
      rank_.transport.open_channel({}, {});
      continue;
    }
    std::vector<mpi::Message> sends = bound_.sends(i);
    for (mpi::Message& message : sends) message.synchronous = options_.many;
    buffers_[i].channel = rank_.transport.open_channel(sends, bound_.receives(i));
  }
}

void StepLoop::close() {
  for (BufferSet& set : buffers_) {
    if (set.channel) set.channel->disconnect();
  }
  if (courier_) courier_->disconnect();
  rank_.transport.barrier();
  for (BufferSet& set : buffers_) set.channel.reset();
  courier_.reset();
}

void StepLoop::rethrow() {
  const RunError error = failure();
  let_device_end(error);
  throw error;
}

/// Ends the device's work that waits for other ranks. A device that cannot be brought to its end
/// may never let the error reach the user, so the warning tells it.
void StepLoop::let_device_end(const RunError& failure) {
  for (BufferSet& set : buffers_) {
    if (set.device) set.device->destroy_recordings();
  }
  bool ended = true;
  for (const BufferSet& set : buffers_) {
    if (set.channel) ended = set.channel->abandon() && ended;
  }
  if (ended) return;
  log::lasting_warning(
      "the device still waits for other ranks, so this rank may hang; it failed: " +
      std::string(failure.what()));
}

/// Returns the exception that is being handled as rethrow() words it.
RunError StepLoop::failure() const {
  const std::string where = "rank " + std::to_string(plan_.rank.index()) + " on " +
                            rank_.transport.host() + ", " + current_step() + ": ";
  try {
    throw;
  } catch (const mpi::DeviceError& error) {
    const std::string suspects = suspects_text();
    return {where + error.what() + suspects, suspects.empty() ? Need{} : need::FailedOperator{}};
  } catch (const std::bad_alloc&) {
    return RunError(where + "out of memory");
  } catch (const std::exception& error) {
    return RunError(where + error.what());
  }
}

// Empty where the failure names its operator itself.
std::string StepLoop::suspects_text() const {
  const auto& device = buffers_[buffer_].device;
  if (!device || device->blocking() || device->given().empty()) return {};
  return "; the device had been given " + by_stream(device->given(), plan_, rank_.graph());
}

std::string StepLoop::current_step() const {
  const std::size_t position = progress_.position();
  const std::string text = position_text(position);
  if (!options_.many || position == StepProgress::kBetween) return text;
  return "inference " + std::to_string(progress_.iteration()) + ", " + text;
}

/// Returns "; 3 other stages wait", while a stage in any order waits and no other can run.
std::string StepLoop::others_text() const {
  const std::size_t others = others_wait_.load(std::memory_order_relaxed);
  if (!plan_.any_order || others == 0) return {};
  return "; " + std::to_string(others) +
         (others == 1 ? " other stage waits" : " other stages wait");
}

/// Returns how far each lane is: "; lane 0: 3 of 9 loads, …, next conv_4 from rank 1 (4096 bytes)".
std::string StepLoop::loads_text() const {
  std::string text;
  for (std::size_t l = 0; loader_ && l < plan_.lanes.size(); ++l) {
    const std::vector<PlannedLoad>& lane = plan_.lanes[l];
    text += "; lane " + std::to_string(lane.front().lane) + ": " + loader_->progress_text(l);
    const std::size_t next = loader_->loaded(l);
    if (next < lane.size()) text += ", next " + describe(lane[next], rank_.graph());
  }
  return text;
}

// The segments of all buffer indices are the same.
std::string StepLoop::position_text(std::size_t position) const {
  const Graph& graph = rank_.graph();
  if (position == StepProgress::kBetween) return kBetweenIterations;
  if (position == progress_.end_of_messages()) return kEndOfMessages;
  if (position == progress_.loads()) return kLoadsAlone + loads_text();
  const auto& device = buffers_.front().device;
  if (position == progress_.end_on_device()) {
    const std::string text = kEndOnDevice;
    if (!device || device->segments().empty()) return text;
    return text + ", given last " + describe(device->segments().back(), plan_, graph);
  }
  const std::size_t index = position - 1;
  const Step& step = plan_.steps[index];
  if (device) {
    for (const Segment& segment : device->segments()) {
      if (segment.first == index) {
        return (device->blocking() ? "running " : "queueing ") + describe(segment, plan_, graph);
      }
    }
  }
  if (const auto* const load = std::get_if<AwaitLoad>(&step); load && loader_) {
    return describe(step, plan_, graph) + "; its lane has done " +
           loader_->progress_text(load->lane) + others_text();
  }
  if (is_wait(step)) return describe(step, plan_, graph) + others_text();
  return describe(step, plan_, graph);
}

}  // namespace hios
