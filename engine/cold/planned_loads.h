#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "hios/base/ids.h"
#include "hios/graph/graph.h"
#include "hios/schedule/schedule.h"
#include "mpi/transport.h"

/// The loads of one rank in a cold start: pure data, the same on every run.
namespace hios {

/// A load of parameters from a store to this rank.
struct PlannedLoad {
  std::size_t lane = 0;       ///< its lane in the schedule
  std::size_t index = 0;      ///< its index there
  std::vector<OpId> readers;  ///< the operators of this rank that read them, ascending; not empty
  Bytes size_bytes = 0;       ///< as the graph counts them
};

/// A stage's wait for the loads of a lane, in order, up to this one.
struct LaneWait {
  std::size_t lane = 0;  ///< index into PlannedLoads::lanes
  std::size_t load = 0;  ///< index there
};

struct PlannedLoads {
  std::vector<std::vector<PlannedLoad>> lanes;  ///< those with a load to this rank
  std::vector<std::vector<LaneWait>> waits;     ///< by stage: what no earlier stage has waited for
  std::vector<OpId> in_place;  ///< operators of this rank that read their parameters in place
};

/// Plans the loads of a rank. A lane loads in order, so a wait for a load is one for all before it.
/// With Weights::load_first, the first stage waits for all. A schedule without weights has no
/// lanes. REQUIRES: validate() and unplanned_weights() find nothing.
PlannedLoads plan_loads(const Graph& graph, const Schedule& schedule, Rank rank);

/// Returns what no engine does yet in a schedule's weights, as a path below "$.weights" and the
/// reason: "lanes[0][3]: …"; empty: it runs.
std::string unplanned_weights(const ScheduleFile& file);

}  // namespace hios
