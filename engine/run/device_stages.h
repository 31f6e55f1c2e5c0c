#pragma once

#include <array>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/backend/backend.h"
#include "engine/cold/device/device_loads.h"
#include "engine/cold/kept_parameters.h"
#include "engine/run/bound_plan.h"
#include "engine/run/clocks/run_clocks.h"
#include "engine/run/plan/plan.h"

namespace hios {

/// The stages of a plan on an asynchronous device, which is given them a segment at a time. Where
/// the backend records, each segment is recorded once and replayed in every iteration. An iteration
/// is begin(), run_next() for each segment, end(); these allocate nothing. Used by the main thread
/// only.
///
/// Messages that can be recorded are nodes of the recording, and all steps are one segment; where
/// a rank's device refuses that, the hosts of all ranks move them, between segments.
///
/// In a cold start of a rank without messages, all steps are one segment as well: its loads are
/// nodes of the recording. A recording ends when all its nodes have. So where messages divide the
/// steps, begin() queues the loads, and the waits for them divide the steps, too.
class DeviceStages {
 public:
  /// The means of a cold start.
  struct Cold {
    DeviceLoads* loads = nullptr;       ///< null: the rank loads nothing
    KeptParameters* evicted = nullptr;  ///< overwrites evicted parameters; null: nobody does
  };
  /// The arguments outlive this, except `host`, which errors name. Where the backend records, every
  /// segment runs here once, on any values in its tensors; throws RunError if that fails.
  /// `blocking`: nothing is recorded; each operator runs alone, on its own stream, and is waited
  /// for, so that a failure names the operator. REQUIRES: backend.accelerator(); a bound stage for
  /// each stage of the plan; no message of the rank is in flight. `messages`: the plan's channel,
  /// if all ranks record their messages with the stages; else null.
  DeviceStages(const RankPlan& plan, const Graph& graph, Backend& backend,
               std::span<const BoundStage> stages, const std::string& host, bool blocking,
               const Cold& cold, mpi::Channel* messages);

  /// Returns false if the device refused to record the messages. Then call leave_messages(), as on
  /// all other ranks, before anything runs: it leaves them to the host, and records again.
  bool recorded_messages() const { return !messages_ || recorded_messages_; }
  void leave_messages();

  /// Switches on or off that iterations load parameters; first on. Off, all are there. The first
  /// call may make recordings of its own, as the constructor does.
  void load(bool on);
  /// Switches on or off that iterations read the device's clock around each stage. The first call
  /// makes recordings of its own for that, as the constructor does, so that plain iterations do not
  /// read the clock.
  void record_stages(bool on);
  /// Switches on or off that iterations read the clock before the first stage and after the last,
  /// and nowhere else; makes recordings of its own, too. REQUIRES: a stage.
  void time_whole(bool on);
  /// Returns the time between these two readings in the last such iteration.
  double whole_ms() const { return marks_->ms(whole_mark(), whole_mark() + 1); }

  void begin();
  /// Returns true if run_next() queues a segment that begins with this step.
  bool is_next(std::size_t step) const {
    return next_ < segments_.size() && segments_[next_].first == step;
  }
  /// Queues the next segment and returns the step after it. If blocking, throws a RunError that
  /// names operator and stream where one fails.
  std::size_t run_next();
  /// With record_stages(true), read the device's clock when its work comes to this point: where a
  /// send was started, a receive is about to be awaited, or a receive was awaited.
  void mark_send(std::size_t send);
  void mark_wait(std::size_t receive);
  void mark_receive(std::size_t receive);
  /// Waits until the device has ended all queued work. With record_stages(true) writes its times,
  /// except the ends of sends, and those of loads (LoadLanes::clocks), as of an iteration that
  /// began at `began_ms`. Throws RunError where the device failed.
  void end(RunClocks& clocks, double began_ms);

  /// Destroys all recordings; the device frees one that runs at its end. Nothing can run
  /// afterwards.
  void destroy_recordings();

  std::span<const Segment> segments() const { return segments_; }
  /// Returns the segments that the device has been given in this iteration.
  std::span<const Segment> given() const { return segments().first(next_); }
  bool blocking() const { return blocking_; }
  /// Returns true if the segments move the messages, so that nobody else may use their channel.
  bool moves_messages() const { return messages_ != nullptr; }

 private:
  using Recordings = std::vector<std::unique_ptr<Recording>>;  // by segment; null: queued each time
  /// The points at which an iteration reads the device's clock.
  enum class Readings { kNone, kAroundAll, kAroundStages };

  Recordings record_all();
  std::unique_ptr<Recording> record(const Segment& segment);
  void queue(const Segment& segment, bool moves = false);
  void queue_message(const Step& step);
  void queue_stage(std::size_t stage);
  void keep(Recordings made);
  void await_messages();
  void begin_loads();
  void switch_to(Readings readings, bool loading);
  Recordings& recordings() {
    return recordings_[2 * static_cast<std::size_t>(readings_) + (whole_ && loading_ ? 1 : 0)];
  }
  void run_one_by_one(std::size_t stage);
  void read_clocks(RunClocks& clocks) const;
  std::size_t send_mark(std::size_t send) const;
  std::size_t wait_mark(std::size_t receive) const;
  std::size_t whole_mark() const { return wait_mark(plan_.receives.size()); }
  std::size_t load_marks() const { return whole_mark() + 2; }

  const RankPlan& plan_;
  const Graph& graph_;
  Backend& backend_;
  std::span<const BoundStage> stages_;
  const Cold cold_;
  const bool whole_;                         // loads are nodes
  mpi::Channel* messages_;                   // recorded with the stages; null: the host moves them
  std::unique_ptr<mpi::DeviceEvent> ended_;  // of a recording that moves messages
  bool recorded_messages_ = false;           // at least once
  std::string messages_refused_;             // the device's message
  std::vector<Segment> segments_;
  const std::string host_;
  const bool blocking_;
  std::size_t next_ = 0;  // segment of this iteration
  Readings readings_ = Readings::kNone;
  bool loading_ = false;                  // as load() says, where there is anything to load
  std::unique_ptr<ClockMarks> marks_;     // made when first needed; recordings use them
  std::array<Recordings, 6> recordings_;  // by Readings, without loads and with; empty until needed
};

}  // namespace hios
