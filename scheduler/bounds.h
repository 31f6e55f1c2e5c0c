#pragma once

#include <string>
#include <vector>

#include "hios/cost_model.h"
#include "hios/graph.h"

namespace hios::scheduler {

/// A latency that no schedule of the graph on the platform can beat, by simulate() with these
/// costs.
struct LowerBound {
  double ms = 0;
  std::string name;  ///< "critical_path" or "work"
};

/// The longest path of operators without transfers, since all might share a device.
LowerBound critical_path_bound(const Graph& graph, const CostModel& costs);
/// All work, shared evenly by all devices.
LowerBound work_bound(const Graph& graph, const CostModel& costs);
/// The larger of them; `critical_path` where they are equal.
LowerBound lower_bound(const Graph& graph, const CostModel& costs);

}  // namespace hios::scheduler
