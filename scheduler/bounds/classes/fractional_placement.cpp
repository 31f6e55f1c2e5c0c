#include "scheduler/bounds/classes/fractional_placement.h"

#include <algorithm>
#include <utility>

#include "scheduler/bounds/classes/assignment_dual.h"
#include "scheduler/bounds/classes/class_candidates.h"
#include "scheduler/bounds/graph/class_costs.h"
#include "scheduler/bounds/graph/heads.h"

// The soft minima of the dual (assignment_dual.cpp) at its last, finest level are about a solution
// of the relaxation, by which a schedule can begin. Nothing here is a bound.

namespace hios::scheduler {

std::optional<FractionalPlacement> fractional_placement(const Graph& graph, const CostModel& costs,
                                                        double latency_ms, double kept,
                                                        const Deadline& deadline) {
  const Shares shares(graph, costs);
  AllowedDevices allowed(graph, costs);
  BoundGraphs graphs(graph, shares, allowed);
  const BoundContext context{graph, costs, shares, allowed, deadline};
  const BoundGraph whole = graphs.whole();
  std::optional<ClassCosts> by_class = class_costs(whole, context);
  if (!by_class) return std::nullopt;
  for (double& capacity : by_class->capacity) capacity *= 1 - kept;
  const TimeWindows windows = time_windows(
      whole, Contention::kAllDevices, ancestor_limit(graph.size(), graph.edge_count()), deadline);
  ClassCandidates candidates(whole, *by_class, windows);
  if (!candidates.narrow(latency_ms)) return std::nullopt;
  AssignmentDual dual(*by_class);
  double work = quick_work_for(*by_class);
  dual.raise(candidates, latency_ms, deadline, work);
  const std::vector<double> by_number = dual.shares();
  if (by_number.empty() || deadline.expired()) return std::nullopt;
  FractionalPlacement result{std::move(by_class->devices), std::vector<double>(by_number.size())};
  const std::size_t classes = result.classes.size();
  for (std::size_t v = 0; v < whole.size(); ++v) {
    std::copy_n(
        by_number.begin() + static_cast<std::ptrdiff_t>(v * classes), classes,
        result.shares.begin() + static_cast<std::ptrdiff_t>(whole.ops[v].index() * classes));
  }
  return result;
}

}  // namespace hios::scheduler
