#pragma once

#include <optional>
#include <span>
#include <vector>

#include "hios/evaluate/cost_model.h"
#include "hios/evaluate/timeline.h"
#include "hios/graph/graph.h"
#include "hios/schedule/schedule.h"

/// An independent implementation of cold starts and shared buses, written apart from
/// hios/evaluate/cold/: small steps and linear searches.
namespace hios::test {

/// A flow that moves bytes: its buses, and its own limit in bytes per ms.
struct PlainFlow {
  std::vector<std::size_t> over;
  double limit = 0;
};

/// Returns the max-min fair rates in bytes per ms: all rise together in steps, until the next flow
/// is at its limit or the next bus is full. `capacity`: by bus, bytes per ms.
std::vector<double> plain_max_min_rates(std::span<const double> capacity,
                                        std::span<const PlainFlow> flows);

/// Returns the timeline by the rules of hios/evaluate/cold/simulate_flows.h; nothing where some
/// stage or load never starts. REQUIRES: a platform with a topology.
std::optional<Timeline> slow_cold_timeline(const Graph& graph, const Schedule& schedule,
                                           const CostModel& costs);

}  // namespace hios::test
