#pragma once

#include <string>
#include <vector>

#include "hios/evaluate/cost_model.h"
#include "hios/graph/graph.h"
#include "scheduler/deadline.h"

namespace hios::scheduler {

/// A latency that no schedule of the graph on the platform can beat, by simulate() with these
/// costs. Contention is left out: it only delays (hios/evaluate/simulate.h), whatever the order of
/// transfers, so what bounds every schedule without it bounds every schedule with it. Sums are in
/// floating point: a schedule can be below by some 10⁻¹² of it.
struct LowerBound {
  double ms = 0;
  std::string name;
};

/// Every bound there is, always the same ones in the same order: scheduler/bounds/ has one in each
/// file, with its proof. Nearly linear in operators and edges: below 3 s for 50,000 and 100,000.
///
/// Once the deadline (asked often, from the calling thread) expires, it returns soon, with bounds
/// as large as they have become by then, 0 where nothing is known.
std::vector<LowerBound> all_bounds(const Graph& graph, const CostModel& costs,
                                   const Deadline& deadline = {});

/// The largest of them, the first where equal; 0 and `critical_path` for a graph without operators.
LowerBound lower_bound(const Graph& graph, const CostModel& costs, const Deadline& deadline = {});

/// The bound as it stands beside a schedule of that latency: above it by no more than a rounding,
/// it is the latency.
LowerBound beside(LowerBound bound, double latency_ms);

}  // namespace hios::scheduler
