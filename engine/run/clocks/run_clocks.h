#pragma once

#include <tuple>
#include <vector>

#include "engine/host/clock.h"
#include "hios/evaluate/limits/waits.h"
#include "hios/evaluate/timeline.h"

/// Times of a run on one rank, in ms: of the stages and messages of one iteration, and the shares
/// that kernels, messages and waits have in it. They count from the start of the iteration, on the
/// rank's own clock or on that of an asynchronous device. The device's clock starts when the device
/// begins the iteration.
namespace hios {

/// A send starts when it is handed to the channel, and ends when the rank sees that its buffer is
/// free again. A receive starts when the rank begins to wait for it, and ends when the rank sees
/// the tensor; a receive that nobody waited for starts when it ends. A rank looks whenever it lets
/// messages progress: around stages, between operators, and while it waits.
///
/// With an asynchronous device, a send starts, and a receive starts and ends, when the device's
/// work comes to it, which is when it costs the device time. The end of a send is what the rank
/// saw, on the rank's clock.
struct MessageClock {
  double start_ms = 0;
  double end_ms = 0;
};

struct RunClocks {
  std::vector<StageTimes> stages;             ///< by stage of the plan
  std::vector<MessageClock> sends, receives;  ///< by index in RankPlan::sends and receives
};

struct RankPlan;

/// Notes when each stage was ready: when the last of its tensors from other ranks was there, 0
/// where it needs none. The first stage that needs a tensor waits for it; where stages run in any
/// order, each that needs it does. REQUIRES: the plan's clocks.
void note_ready_stages(const RankPlan& plan, RunClocks& clocks);

/// The shares of a rank's time in a run, in ms.
struct TimeShares {
  double computing_ms = 0;     ///< in operators
  double transferring_ms = 0;  ///< in messages that progressed, and copying inputs and outputs
  double waiting_ms = 0;       ///< for other ranks, for loads, and for the device
  double own_ms = 0;           ///< the rest: the executor's own
  double total_ms() const { return computing_ms + transferring_ms + waiting_ms + own_ms; }
  static auto fields(auto& self) {
    return std::tie(self.computing_ms, self.transferring_ms, self.waiting_ms, self.own_ms);
  }
};

/// Divides the time of a run into shares, with one reading of the clock for each change.
class TimeMeter {
 public:
  void begin() {
    begin_ = Clock::now();
    last_ms_ = 0;
    shares_ = {};
  }
  /// Adds the time since the last charge to a share. Returns the time now.
  double charge(double TimeShares::*share) {
    const double now = now_ms();
    shares_.*share += now - last_ms_;
    last_ms_ = now;
    return now;
  }
  double now_ms() const { return ms_between(begin_, Clock::now()); }
  double last_ms() const { return last_ms_; }  ///< the time of the last charge
  /// Returns the start of the run, in ms on this host's clock, which its processes share.
  double began_ms() const { return ms_between({}, begin_); }
  const TimeShares& shares() const { return shares_; }

 private:
  Clock::time_point begin_;
  double last_ms_ = 0;
  TimeShares shares_;
};

/// One rank's share of a measured Timeline, to be exchanged.
struct RankTimeline {
  std::vector<StageTimes> stages;
  /// Start and end of both as this rank saw them (see MessageClock).
  std::vector<TransferTimes> sends, receives;
  std::vector<LoadTimes> loads = {};
  std::vector<LoadTimes> sent_loads = {};  ///< to other ranks: their starts
  std::vector<LoadWait> load_waits = {};   ///< of its stages, for loads alone
  static auto fields(auto& self) {
    return std::tie(self.stages, self.sends, self.receives, self.loads, self.sent_loads,
                    self.load_waits);
  }
};

/// Joins the timelines of all ranks: a transfer starts when its sender started it, and ends when
/// its receiver saw the tensor; so does a load from another rank. `by_rank`: of one iteration.
/// REQUIRES: for each receive the send that matches it.
Timeline join(const std::vector<RankTimeline>& by_rank);

}  // namespace hios
