#pragma once

#include <tuple>
#include <vector>

#include "hios/evaluate/timeline.h"

/// When everything of one iteration happened on one rank, in ms from the iteration's start there:
/// on the rank's own clock, or on that of an asynchronous device, which starts when the device
/// takes up the iteration.
namespace hios {

/// A send starts when it is handed to the channel, and ends when its buffer was seen to be free
/// again. A receive starts when the rank began to wait for it, and ends when its tensor was seen to
/// be there, in the same moment where that was before anybody waited. A rank looks whenever it lets
/// messages progress: around stages, between operators, while it waits.
///
/// With an asynchronous device, a send starts and a receive starts and ends when the device's work
/// comes to it, which is when it costs the device time; a send's end is what the rank saw, on the
/// rank's clock.
struct MessageClock {
  double start_ms = 0;
  double end_ms = 0;
};

struct RunClocks {
  std::vector<StageTimes> stages;             ///< by stage of the plan
  std::vector<MessageClock> sends, receives;  ///< by index in RankPlan::sends and receives
};

/// One rank's part of a measured Timeline, to be exchanged.
struct RankTimeline {
  std::vector<StageTimes> stages;
  /// Of both, the start and the end are as this rank saw them (see MessageClock).
  std::vector<TransferTimes> sends, receives;
  static auto fields(auto& self) { return std::tie(self.stages, self.sends, self.receives); }
};

/// The whole: a transfer starts when its sender gave it away, and ends when its receiver saw it.
/// `by_rank`: of one iteration. REQUIRES: for each receive the send that matches it.
Timeline join(const std::vector<RankTimeline>& by_rank);

}  // namespace hios
