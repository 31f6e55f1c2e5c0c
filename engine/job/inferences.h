#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "engine/host/disturbance.h"
#include "engine/measure/protocol.h"
#include "engine/run/pipeline.h"
#include "hios/platform/platform.h"
#include "hios/schedule/schedule.h"
#include "mpi/transport.h"

/// Runs of many inferences in flight: how many, in how many copies, and what was measured.
namespace hios::job {

/// The most that a user can ask for.
inline constexpr std::size_t kMostInFlight = 4096;

/// How inferences ("inferences") flow. The same on all ranks.
struct InferencesOptions {
  std::size_t in_flight = 0;  ///< places of each tensor that travels; 0: the schedule's, else 2
  std::size_t copies = 1;     ///< of the schedule, each on ranks of its own, that take turns
  std::size_t inputs = 0;     ///< different ones, taken in turn; 0: one more than all places
};

/// With nothing left to be chosen. Throws InputError where the schedule asks for too many places.
InferencesOptions settled(const InferencesOptions& options, const ScheduleFile& schedule);

/// Which part of which copy a rank is: copy c of a schedule for k devices has the ranks from c · k.
struct CopyDevice {
  std::size_t copy = 0;
  DeviceId device;
};
inline CopyDevice copy_device(Rank rank, std::size_t devices) {
  return {rank.index() / devices, DeviceId(rank.index() % devices)};
}

/// The devices of all copies, by rank: what each costs is measured with all of them at work.
Platform of_copies(const Platform& platform, std::size_t copies);

/// A rank's time an inference, and the stages of the last inferences.
struct RankOfInferences {
  TimeShares each;                      ///< an inference
  std::size_t inferences = 0;           ///< that it ran
  bool idle = false;                    ///< it has no operators
  bool knows_computing = true;          ///< not where its device is asynchronous
  std::vector<StageOfInference> trace;  ///< of the last run
  static auto fields(auto& self) {
    return std::tie(self.each, self.inferences, self.idle, self.knows_computing, self.trace);
  }
};

/// What was measured, the same on every rank.
struct MeasuredInferences {
  InferencesOptions options;   ///< settled
  std::size_t inferences = 0;  ///< measured, in all copies together
  std::size_t runs = 0;        ///< from an empty pipeline to an empty one
  /// By run: from the end of an inference to the end of the next, in the mean over all that ended
  /// after the pipeline was full, `window` of them at least. Inferences count as ended in their
  /// order.
  std::vector<double> periods_ms;
  std::size_t window = 0;
  /// From the start of its first stage to its end, of the same inferences. Ranks without operators
  /// count for nothing; ranks that exchange nothing are not held together.
  std::vector<double> latencies_ms;
  std::vector<bool> disturbed_periods, disturbed_latencies;  ///< as Samples::disturbed
  std::vector<RankOfInferences> ranks;
  std::size_t unlike = 0;  ///< inferences whose output was not that of the same input before
  bool stopped = false;
};

/// From one end to the next, in the mean over `counted` of them.
struct MeanPeriod {
  double ms = 0;
  std::size_t counted = 0;
};

/// Of the ends from number `first` on, each counted as ended once all before it have. From an end
/// to one of the same copy, for those of all copies may come together. REQUIRES: first + copies <
/// end_ms.size().
MeanPeriod mean_period(std::span<const double> end_ms, std::size_t first, std::size_t copies);

/// What measure_inferences() is to do. `stop` of the protocol is asked between runs.
struct InferencesJob {
  mpi::Transport& transport;
  const Protocol& protocol;   ///< warm-up inferences, and how many are measured, at least
  InferencesOptions options;  ///< settled
  std::size_t devices;        ///< of a copy
  DisturbanceReader& reader;
};

/// Warm-up, then runs of a fifth of a second or so until both limits of the protocol are met;
/// before each a barrier, in it no collective. How many inferences a run has is agreed before it.
/// Collective.
MeasuredInferences measure_inferences(const InferencesJob& job, Pipeline& pipeline);

}  // namespace hios::job
