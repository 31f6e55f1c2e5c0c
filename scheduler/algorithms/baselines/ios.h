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
  std::int64_t max_endings = 5'000'000;  ///< the most endings tried for a piece of the graph
};

struct IosResult {
  std::vector<Stage> stages;  ///< of the one device
  bool optimal = true;        ///< over all schedules of stages within r and s
  bool timed_out = false;
};

/// The dynamic programming of IOS (Ding et al., MLSys 2021) for one device. Within its budget and
/// on a graph that need not be cut between blocks, the least sum of stage costs over all schedules
/// whose groups are connected and within r, s and the device's streams.
///
/// REQUIRES: the device can
/// run all operators.
IosResult schedule_endings(const Graph& graph, const CostModel& costs, DeviceId device,
                           const IosOptions& options, const Deadline& deadline = {},
                           const std::function<void(std::string_view)>& progress = {});

/// The same for some of the operators, in an order in which none reads one behind it: so many at a
/// time, as they stand there. REQUIRES: no path between two of them leaves them; the device can run
/// them.
IosResult schedule_endings_of(const Graph& graph, const CostModel& costs, DeviceId device,
                              std::span<const OpId> operators, const IosOptions& options,
                              const Deadline& deadline = {});

}  // namespace hios::scheduler
