#pragma once

#include <string>
#include <vector>

#include "hios/evaluate/validate.h"
#include "hios/schedule/assignment.h"

namespace hios {

/// Finds deadlocks for validate(): returns at least one finding for every strongly connected
/// component of stages that wait for each other. Reports kDependentGroups where groups of a stage
/// depend on each other through operators outside it, otherwise kCycle. Ignores edges inside a
/// stage and operators that the schedule does not run.
std::vector<Finding> find_deadlocks(const Graph& graph, const Platform& platform,
                                    const Schedule& schedule, const Assignment& assignment);

/// Finds deadlocks through the order of transfers, where links carry one tensor at a time
/// (transfer_deadlock.cpp): returns one finding, kCycle, where stages and transfers wait for each
/// other. Linear in operators and edges. REQUIRES: the schedule lists no transfers, or exactly
/// those of transfers_of(), each once; find_deadlocks() finds nothing.
std::vector<Finding> find_transfer_deadlocks(const Graph& graph, const Platform& platform,
                                             const Schedule& schedule,
                                             const Assignment& assignment);

/// Returns "the transfer of conv_7 to cpu1".
std::string describe_transfer(const Graph& graph, const Platform& platform,
                              const PlannedTransfer& transfer);

/// Returns "conv_7 (device cpu0, stage 2, group 0)".
std::string describe_operator(const Graph& graph, const Platform& platform, OpId op,
                              const AssignedTo& assigned);

}  // namespace hios
