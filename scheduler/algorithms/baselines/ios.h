#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "hios/evaluate/cost_model.h"
#include "hios/graph/graph.h"
#include "hios/schedule/schedule.h"
#include "scheduler/deadline.h"

namespace hios::scheduler {

struct IosOptions {
  std::size_t max_group = 3;   ///< r: the most operators of a group
  std::size_t max_groups = 8;  ///< s: the most groups of a stage; the device's streams limit it too
  std::int64_t max_endings = 5'000'000;  ///< limit of endings tried in a subgraph
};

struct IosResult {
  std::vector<Stage> stages;  ///< the device's
  bool optimal = true;        ///< among all schedules of stages within r and s
  bool timed_out = false;
};

/// Schedules one device by the dynamic programming of IOS (Ding et al., MLSys 2021). The sum of
/// stage costs is the least of all schedules whose groups are connected and within r, s and the
/// device's streams, if the budget suffices and the graph need not be cut between blocks. REQUIRES:
/// the device can run all operators.
IosResult schedule_endings(const Graph& graph, const CostModel& costs, DeviceId device,
                           const IosOptions& options, const Deadline& deadline = {},
                           const std::function<void(std::string_view)>& progress = {});

/// Schedules some of the operators, in a topological order; as many at a time as a subgraph holds.
/// REQUIRES: no path between two of them leaves them; the device can run them.
IosResult schedule_endings_of(const Graph& graph, const CostModel& costs, DeviceId device,
                              std::span<const OpId> operators, const IosOptions& options,
                              const Deadline& deadline = {});

}  // namespace hios::scheduler
