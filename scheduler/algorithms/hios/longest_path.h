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
  /// Paths run through operators with scheduled neighbours, which the paper rules out.
  bool through_touching = false;
};

/// One round of Alg. 1, for tests and for those who want to see it work.
struct PathTrial {
  ValidPath path;  ///< as far as one device can take it
  /// The latency of all that is scheduled, by the device that the path was tried on; infinity where
  /// the device cannot take it or another was found better before the trial's end.
  std::vector<double> latency_ms;
  DeviceId chosen;
};

/// Alg. 1 without its last line: maps path after path to the device where the latency of all that
/// is scheduled is least. One operator a stage. Once out of time, the rest goes by list_schedule().
/// `observe` (optional) gets every round, all of whose trials then run to their end.
///
/// Honours times by device, `allowed`, `colocate` and memory: a path is cut after the longest
/// beginning that some device can take, and goes to one of the devices that can. Where a path is
/// left that no device can take, because of labels and memory given to others, pack_operators()
/// places everything; it throws InputError where it finds no placement.
TimedSchedule map_longest_paths(const Graph& graph, const CostModel& costs,
                                const LongestPathOptions& options, const Deadline& deadline = {},
                                const std::function<void(const PathTrial&)>& observe = {});

}  // namespace hios::scheduler
