#pragma once

#include <cstdint>
#include <optional>

#include "hios/evaluate/cost_model.h"
#include "hios/graph/graph.h"
#include "hios/schedule/schedule.h"
#include "scheduler/deadline.h"

namespace hios::scheduler::milp {

struct StageSearchLimits {
  std::int64_t nodes = 0;  ///< partial schedules; 0: any number
  Deadline deadline = {};
};

struct StageSearchResult {
  std::optional<Schedule> shorter;  ///< the shortest schedule found
  bool complete = false;            ///< no schedule is shorter than that, or than `below_ms`
};

/// Searches all schedules, with stages of several groups, for one that takes less than `below_ms`,
/// by branch and bound. What the linear program leaves out: it runs one operator after the other on
/// each device. For the smallest problems only: returns an incomplete result at once for more than
/// kMostSearched operators, where too many stages are possible, and where messages matter
/// (CostModel::messages_matter()). A difference of 1e-9 of a latency does not count.
StageSearchResult search_stages(const Graph& graph, const CostModel& costs, double below_ms,
                                const StageSearchLimits& limits);

inline constexpr std::size_t kMostSearched = 12;

}  // namespace hios::scheduler::milp
