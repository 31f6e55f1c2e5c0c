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

/// Runs of many inferences in flight: their options, and the measured times.
namespace hios::job {

/// The largest number of inferences in flight that a user can ask for.
inline constexpr std::size_t kMostInFlight = 4096;

/// The options of many inferences. The same on all ranks.
struct InferencesOptions {
  std::size_t in_flight = 0;  ///< F: buffers of each tensor that travels; 0: the schedule's, else 2
  std::size_t copies = 1;     ///< copies of the schedule, each on ranks of its own, that take turns
  std::size_t inputs = 0;     ///< different inputs, used in turn; 0: one more than F · copies
};

/// Returns the options with every 0 replaced. Throws InputError where the schedule asks for too
/// many inferences in flight.
InferencesOptions settled(const InferencesOptions& options, const ScheduleFile& schedule);

/// A rank's copy of the schedule, and its device there: copy c of a schedule for k devices has the
/// ranks from c · k on.
struct CopyDevice {
  std::size_t copy = 0;
  DeviceId device;
};
inline CopyDevice copy_device(Rank rank, std::size_t devices) {
  return {rank.index() / devices, DeviceId(rank.index() % devices)};
}

/// Returns the devices of all copies, by rank: costs are measured while all of them work.
Platform of_copies(const Platform& platform, std::size_t copies);

/// A rank's time for an inference, and the stages of the last inferences.
struct RankOfInferences {
  TimeShares each;                      ///< the mean over its inferences
  std::size_t inferences = 0;           ///< the number that it ran
  bool idle = false;                    ///< it has no operators
  bool knows_computing = true;          ///< false where its device is asynchronous
  std::vector<StageOfInference> trace;  ///< the last run's
  static auto fields(auto& self) {
    return std::tie(self.each, self.inferences, self.idle, self.knows_computing, self.trace);
  }
};

/// The measured times, the same on every rank.
struct MeasuredInferences {
  InferencesOptions options;   ///< settled
  std::size_t inferences = 0;  ///< measured, in all copies together
  std::size_t runs = 0;        ///< each from an empty pipeline to an empty one
  /// By run: the mean time from the end of an inference to the end of the next, over at least
  /// `window` inferences that ended after the pipeline was full. Inferences count as ended in their
  /// order.
  std::vector<double> periods_ms;
  std::size_t window = 0;
  /// The time from the start of its first stage to its end, of each of these inferences. Ranks
  /// without operators are not considered; nothing synchronises ranks that exchange no tensors.
  std::vector<double> latencies_ms;
  std::vector<bool> disturbed_periods, disturbed_latencies;  ///< see Samples::disturbed
  std::vector<RankOfInferences> ranks;
  std::size_t unlike = 0;  ///< inferences whose output differs from that of the same input before
  bool stopped = false;
};

/// The mean time from one end to the next, over `counted` of them.
struct MeanPeriod {
  double ms = 0;
  std::size_t counted = 0;
};

/// Computes the period from the ends from number `first` on, each counted as ended once all before
/// it have. The interval is from an end to a later one of the same copy, because those of all
/// copies may come together. REQUIRES: first + copies < end_ms.size().
MeanPeriod mean_period(std::span<const double> end_ms, std::size_t first, std::size_t copies);

/// The arguments of measure_inferences(). `stop` of the protocol is called between runs.
struct InferencesJob {
  mpi::Transport& transport;
  const Protocol& protocol;   ///< warm-up inferences, and the smallest number of measured ones
  InferencesOptions options;  ///< settled
  std::size_t devices;        ///< the number in a copy
  DisturbanceReader& reader;
};

/// Runs warm-up inferences, then runs of about a fifth of a second until both limits of the
/// protocol are met. Before each run is a barrier, in it no collective call: ranks agree on the
/// number of its inferences before it. Collective.
MeasuredInferences measure_inferences(const InferencesJob& job, Pipeline& pipeline);

}  // namespace hios::job
