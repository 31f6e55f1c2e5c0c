#pragma once

#include <functional>
#include <limits>
#include <optional>
#include <vector>

#include "hios/cost_model.h"
#include "hios/graph.h"
#include "hios/schedule.h"
#include "scheduler/timeline.h"

namespace hios::scheduler {

/// The longest valid path of Alg. 1, line 5, through the operators that are not scheduled: no
/// operator but the first and last has an edge from or to a scheduled one. Its length counts
/// operators and edges by the cost model's means, the heaviest edge from a scheduled operator to
/// the first and the heaviest edge from the last to a scheduled one. Among equals the one whose
/// first operator comes first in `order`. O(V + E).
///
/// REQUIRES: `order` is a topological order of all
/// operators, some not scheduled.
struct ValidPath {
  std::vector<OpId> operators;
  double length_ms = 0;
};
ValidPath longest_valid_path(const Graph& graph, const CostModel& costs,
                             const std::vector<OpId>& order, const std::vector<bool>& scheduled);

struct LongestPathOptions {
  bool insertion = false;  ///< use gaps on a device, where the paper appends
};

/// One round of Alg. 1, for tests and for those who want to see it work.
struct PathTrial {
  ValidPath path;
  /// The latency of all that is scheduled, by the device that the path was tried on; infinity where
  /// the device cannot run it or another was found better before the trial's end.
  std::vector<double> latency_ms;
  DeviceId chosen;
};

/// Alg. 1 without its last line: maps path after path to the device where the latency of all that
/// is scheduled is least. One operator a stage. Once out of time, the rest goes by list_schedule().
/// `observe` (optional) gets every round, all of whose trials then run to their end.
TimedSchedule map_longest_paths(const Graph& graph, const CostModel& costs,
                                const LongestPathOptions& options,
                                const std::function<bool()>& out_of_time = {},
                                const std::function<void(const PathTrial&)>& observe = {});

}  // namespace hios::scheduler
