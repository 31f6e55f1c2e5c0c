#pragma once

#include <array>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/backend/backend.h"
#include "engine/run/bound_plan.h"
#include "engine/run/plan.h"
#include "engine/run/run_clocks.h"

namespace hios {

/// The stages of a plan on an asynchronous device: given to it a segment at a time, each segment
/// recorded once and replayed in every iteration where the backend records. Used by the main thread
/// only; an iteration is begin(), run_next() for each segment, end(), which allocate nothing.
class DeviceStages {
 public:
  /// The arguments outlive this, but `host`, which errors name. Where the backend records, every
  /// segment runs here once, on whatever is in its tensors: throws RunError where that fails.
  /// `blocking`: nothing is recorded, and each operator runs alone, on its own stream, and is
  /// waited for; a failure then names the one that failed. REQUIRES: backend.accelerator(); a stage
  /// for each of the plan's; no message of the rank is under way.
  DeviceStages(const RankPlan& plan, const Graph& graph, Backend& backend,
               std::span<const BoundStage> stages, const std::string& host, bool blocking);

  /// Whether the iterations to come read the device's clock around each stage. The first time it
  /// makes recordings of its own for that, as the constructor does, so that plain iterations carry
  /// no reading.
  void record_stages(bool on);
  /// Whether iterations to come read it before the first stage and behind the last, and nowhere
  /// else; with recordings of their own, too. REQUIRES: a stage.
  void time_whole(bool on);
  /// What lay between the two in the last such iteration.
  double whole_ms() const { return marks_->ms(whole_mark(), whole_mark() + 1); }

  void begin();
  /// Queues the next segment and returns the step behind it. Blocking, it throws a RunError that
  /// names operator and stream where one fails.
  std::size_t run_next();
  /// With record_stages(true): the device's clock is read when its work comes to this point, where
  /// a send has been started, a receive is about to be awaited, or has been awaited.
  void mark_send(std::size_t send);
  void mark_wait(std::size_t receive);
  void mark_receive(std::size_t receive);
  /// Waits until the device has ended all that was queued, and with record_stages(true) writes its
  /// times: all but the ends of sends. Throws RunError where the device failed.
  void end(RunClocks& clocks);

  std::span<const Segment> segments() const { return segments_; }
  /// Those that the device has been given in this iteration.
  std::span<const Segment> given() const { return segments().first(next_); }
  bool blocking() const { return blocking_; }

 private:
  using Recordings = std::vector<std::unique_ptr<Recording>>;  // by segment; null: queued each time
  /// Where an iteration reads the device's clock.
  enum class Clock { kNowhere, kAroundAll, kAroundStages };

  Recordings record_all(Clock clock);
  std::unique_ptr<Recording> record(const Segment& segment, Clock clock);
  void queue(const Segment& segment, Clock clock);
  void read_from_now_on(Clock clock);
  void run_one_by_one(std::size_t stage);
  void read_clocks(RunClocks& clocks) const;
  std::size_t send_mark(std::size_t send) const;
  std::size_t wait_mark(std::size_t receive) const;
  std::size_t whole_mark() const { return wait_mark(plan_.receives.size()); }

  const RankPlan& plan_;
  const Graph& graph_;
  Backend& backend_;
  std::span<const BoundStage> stages_;
  std::vector<Segment> segments_;
  const std::string host_;
  const bool blocking_;
  std::size_t next_ = 0;  // segment of this iteration
  Clock clock_ = Clock::kNowhere;
  std::unique_ptr<ClockMarks> marks_;     // made when first wanted; recordings use them
  std::array<Recordings, 3> recordings_;  // by Clock; empty until they are wanted
};

}  // namespace hios
