#pragma once

#include <functional>
#include <vector>

#include "hios/evaluate/cost_model.h"
#include "hios/graph/graph.h"
#include "hios/schedule/schedule.h"
#include "scheduler/algorithms/hios/valid_path.h"
#include "scheduler/deadline.h"
#include "scheduler/list/timeline.h"

namespace hios::scheduler {

struct LongestPathOptions {
  bool insertion = false;  ///< use gaps on a device, where the paper appends
  /// Also lets paths run through operators with scheduled neighbours, which the paper excludes.
  bool through_touching = false;
};

/// One round of Alg. 1, for tests and observers.
struct PathTrial {
  ValidPath path;  ///< cut to what one device can take
  /// The latency of all scheduled operators, by the path's device; infinity where the device cannot
  /// take it or the trial ended early, after a better one.
  std::vector<double> latency_ms;
  DeviceId chosen;
};

/// Runs Alg. 1 without its last line: maps path after path to the device where the latency of all
/// scheduled operators is least. One operator a stage. After the deadline, list_schedule() places
/// the rest. `observe` (optional) is called with every round, whose trials then all run to their
/// end.
///
/// Honours times by device, `allowed`, `colocate` and memory: a path is cut to the longest prefix
/// that some device can take, and goes to one of these devices. If no device can take a path,
/// because of labels and of memory used by others, pack_operators() places all operators; it throws
/// InputError where it finds no placement.
TimedSchedule map_longest_paths(const Graph& graph, const CostModel& costs,
                                const LongestPathOptions& options, const Deadline& deadline = {},
                                const std::function<void(const PathTrial&)>& observe = {});

}  // namespace hios::scheduler
