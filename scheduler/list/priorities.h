#pragma once

#include <vector>

#include "hios/evaluate/cost_model.h"
#include "hios/graph/graph.h"

namespace hios::scheduler {

/// Which time of an operator a priority counts, where its devices differ.
enum class RankTimes {
  kMean,   ///< over the devices that can run it
  kLeast,  ///< of the device that is fastest for it
};

/// The priority indicator p(v) of Kundu and Shu, HIOS, section IV-A, by OpId, in ms: the length of
/// the longest path from v to the end of the graph, v's own time and all edges included. Transfers
/// are the cost model's means over pairs of devices. The upward rank of Topcuoglu, Hariri and Wu,
/// "Performance-Effective and Low-Complexity Task Scheduling for Heterogeneous Computing", section
/// 4.1, is the same.
std::vector<double> upward_ranks(const Graph& graph, const CostModel& costs,
                                 RankTimes times = RankTimes::kMean);

/// v_1, v_2, …, v_n: all operators by descending priority, equal ones in topological order. Always
/// a topological order itself, also with operators and transfers that take no time.
std::vector<OpId> priority_order(const Graph& graph, const CostModel& costs,
                                 RankTimes times = RankTimes::kMean);

/// Positions in such an order, by OpId.
std::vector<std::size_t> positions(const std::vector<OpId>& order);

}  // namespace hios::scheduler
