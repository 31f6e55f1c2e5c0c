#pragma once

#include <string>
#include <vector>

#include "hios/evaluate/cost_model.h"
#include "hios/graph/graph.h"
#include "scheduler/deadline.h"

namespace hios::scheduler {

/// A latency that no schedule of the graph on the platform can beat, by simulate() with these
/// costs. Contention is ignored: it only delays (hios/evaluate/simulate.h), whatever the order of
/// transfers, so a bound for all schedules without contention is one with it. Sums are in floating
/// point: a schedule's latency can be lower by about 10⁻¹² of it.
struct LowerBound {
  double ms = 0;
  std::string name;
};

/// Returns all bounds, always the same ones in the same order; each has its proof in a file of
/// scheduler/bounds/. Nearly linear in operators and edges: below 3 s for 50,000 and 100,000.
///
/// Once the deadline (asked often, from the calling thread) expires, it returns soon, with the
/// bounds reached by then, 0 for those not computed.
std::vector<LowerBound> all_bounds(const Graph& graph, const CostModel& costs,
                                   const Deadline& deadline = {});

/// Returns the largest bound, the first among equals; 0 and `critical_path` for a graph without
/// operators.
LowerBound lower_bound(const Graph& graph, const CostModel& costs, const Deadline& deadline = {});

/// Returns the bound to report with a schedule of this latency: the latency if the bound exceeds it
/// by rounding alone, else the bound.
LowerBound snap_to_latency(LowerBound bound, double latency_ms);

}  // namespace hios::scheduler
