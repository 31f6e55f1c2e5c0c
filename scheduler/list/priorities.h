#pragma once

#include <vector>

#include "hios/evaluate/cost_model.h"
#include "hios/graph/graph.h"

namespace hios::scheduler {

/// The time that an operator contributes to a priority if its devices differ.
enum class RankTimes {
  kMean,   ///< mean over the devices that can run it
  kLeast,  ///< time on the device that is fastest for it
};

/// Returns the priority indicator p(v) of Kundu and Shu, HIOS, section IV-A, by OpId, in ms: the
/// length of the longest path from v to the end of the graph, including v's time and all edges.
/// Transfers are the cost model's means over pairs of devices; on one device the edges' own
/// transfer_ms, or 0 where bytes would decide it, as there is no link. It is the upward rank of
/// Topcuoglu, Hariri and Wu, "Performance-Effective and Low-Complexity Task Scheduling for
/// Heterogeneous Computing", section 4.1.
std::vector<double> upward_ranks(const Graph& graph, const CostModel& costs,
                                 RankTimes times = RankTimes::kMean);

/// Returns v_1, v_2, …, v_n: all operators by descending priority, equal ones in topological order.
/// The result is a topological order even if operators and transfers take no time.
std::vector<OpId> priority_order(const Graph& graph, const CostModel& costs,
                                 RankTimes times = RankTimes::kMean);

/// Returns the positions in such an order, by OpId.
std::vector<std::size_t> positions(const std::vector<OpId>& order);

}  // namespace hios::scheduler
