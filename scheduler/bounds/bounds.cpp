#include "scheduler/bounds/bounds.h"

#include <algorithm>
#include <utility>

#include "scheduler/bounds/bound_table.h"

// The least that an operator takes is in graph/shares.cpp, the devices on which it can be placed in
// graph/allowed_devices.cpp, and its time window in graph/heads.cpp.
// tests/scheduler/oracle_test.cpp compares every bound with brute force,
// tests/scheduler/bounds/bounds_test.cpp with schedules of larger graphs.

namespace hios::scheduler {
namespace {

constexpr double kBoundRounding = 1e-12;  // sums of the same times in another order

bool is_less(const LowerBound& a, const LowerBound& b) { return a.ms < b.ms; }

}  // namespace

std::vector<LowerBound> all_bounds(const Graph& graph, const CostModel& costs,
                                   const Deadline& deadline) {
  const Shares shares(graph, costs);
  AllowedDevices allowed(graph, costs);
  BoundGraphs graphs(graph, shares, allowed);
  const BoundContext context{graph, costs, shares, allowed, deadline};
  const BoundGraph whole = graphs.whole();
  std::vector<LowerBound> bounds = timed_bounds(whole, context);
  bounds.insert(bounds.begin() + 1, {work_ms(context, whole.ops), "work"});
  bounds.push_back({separators_ms(context, graphs), "separators"});
  bounds.push_back({memory_ms(context, whole.ops), "memory"});
  double known = std::max_element(bounds.begin(), bounds.end(), is_less)->ms;
  const TimeWindows filled = time_windows(
      whole, Contention::kAllDevices, ancestor_limit(graph.size(), graph.edge_count()), deadline);
  bounds.push_back({destructive_ms(whole, filled, context, known), "destructive"});
  known = std::max(known, bounds.back().ms);
  bounds.push_back({modules_ms(whole, context, known), "modules"});
  known = std::max(known, bounds.back().ms);
  bounds.push_back({placement_ms(whole, filled, context, known), "placement"});
  // The bounds so far assume that devices start at 0. No device starts before its launch time.
  const double launch_ms = graph.size() > 0 ? costs.least_launch_ms() : 0;
  for (LowerBound& bound : bounds) bound.ms += launch_ms;
  return bounds;
}

LowerBound lower_bound(const Graph& graph, const CostModel& costs, const Deadline& deadline) {
  LowerBound best;
  for (LowerBound& bound : all_bounds(graph, costs, deadline)) {
    if (best.name.empty() || bound.ms > best.ms * (1 + kBoundRounding)) best = std::move(bound);
  }
  return best;
}

LowerBound snap_to_latency(LowerBound bound, double latency_ms) {
  if (bound.ms > latency_ms && bound.ms <= latency_ms * (1 + kBoundRounding)) bound.ms = latency_ms;
  return bound;
}

}  // namespace hios::scheduler
