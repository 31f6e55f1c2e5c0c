#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "hios/evaluate/cost_model.h"
#include "hios/graph/graph.h"
#include "scheduler/deadline.h"

namespace hios::scheduler {

/// Operators divided among classes of equal devices, as a relaxation would have them.
struct FractionalPlacement {
  std::vector<std::vector<DeviceId>> classes;
  std::vector<double> shares;  ///< operator × class: of each operator 1 in all

  double share(OpId op, std::size_t k) const { return shares[op.index() * classes.size() + k]; }
};

/// Returns the placement of operators on classes of devices that makes the largest of work, paths
/// and windows about as small as possible within memory (AssignmentRows), of which `kept`, a
/// fraction, stays free for rounding. Starts from a schedule of `latency_ms`. Nothing where devices
/// are of one class, there are too many classes, or the deadline expires first.
std::optional<FractionalPlacement> fractional_placement(const Graph& graph, const CostModel& costs,
                                                        double latency_ms, double kept,
                                                        const Deadline& deadline);

}  // namespace hios::scheduler
