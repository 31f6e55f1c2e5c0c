#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "hios/evaluate/cost_model.h"
#include "hios/evaluate/limits/critical_chain.h"
#include "hios/evaluate/limits/longest_path.h"
#include "hios/evaluate/limits/waits.h"
#include "hios/evaluate/timeline.h"
#include "hios/graph/graph.h"
#include "hios/schedule/schedule.h"

namespace hios {

/// The reason why a schedule takes as long as it does: the first of these that holds.
enum class Limit {
  kLongestPath,  ///< the longest path takes kNearLatency of the latency
  kMemory,       ///< operators of the busiest device would fit in another's time, and not in memory
  kWork,         ///< the busiest device is busy for kNearLatency of the time
  kLoads,      ///< loads of parameters take kMuchOfChain of the critical chain, and transfers less
  kTransfers,  ///< transfers take kMuchOfChain of the critical chain
  kWaits,      ///< devices wait for each other, and nothing of the above is the reason
};
std::string_view to_string(Limit limit);

inline constexpr double kNearLatency = 0.9;
inline constexpr double kMuchOfChain = 0.1;

/// The quantities that a schedule's latency is compared with.
struct Limits {
  Limit limit = Limit::kWaits;
  double latency_ms = 0;
  OperatorPath path;
  double work_ms = 0;  ///< sum of all operators' times
  CriticalChain chain;
  DeviceId busiest;
  double busy_share = 0;         ///< the busiest device's, of its time
  std::size_t devices_used = 0;  ///< devices with at least one stage
  /// Returns the longest path's share of the work; 0 without work.
  double path_share() const { return work_ms > 0 ? path.ms / work_ms : 0; }
};

/// A schedule with its times.
struct TimedSchedule {
  const Graph* graph = nullptr;
  const Schedule* schedule = nullptr;
  const Timeline* timeline = nullptr;
  std::span<const DeviceTimes> devices = {};
  /// The costs of a planned timeline; null: the timeline was measured, and memory is not
  /// considered.
  const CostModel* costs = nullptr;
};

/// Returns the limits of a schedule, given each operator's time and the name of its lower bound
/// (`memory` is one). Linear in operators and edges, times devices. REQUIRES: the times belong to
/// the schedule.
Limits limits_of(const TimedSchedule& timed, std::span<const double> operator_ms,
                 std::string_view bound = {});

}  // namespace hios
