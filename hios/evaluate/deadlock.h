#pragma once

#include <string>
#include <vector>

#include "hios/evaluate/validate.h"
#include "hios/schedule/assignment.h"

namespace hios {

/// What validate() asks about waiting: at least one finding for every knot of stages that wait for
/// each other, none where there is no such knot. Reports kDependentGroups where groups of a stage
/// depend on each other through operators outside it, kCycle otherwise. Edges inside a stage are
/// not looked at. An operator that runs nowhere waits for nobody.
std::vector<Finding> find_deadlocks(const Graph& graph, const Platform& platform,
                                    const Schedule& schedule, const Assignment& assignment);

/// What validate() asks about waiting through the order of transfers, where links carry one tensor
/// at a time: one finding, kCycle, where stages and transfers wait for each other, none where
/// none do. Linear in operators and edges. REQUIRES: the schedule lists no transfers, or exactly
/// those of transfers_of(), each once; find_deadlocks() finds nothing.
std::vector<Finding> find_transfer_deadlocks(const Graph& graph, const Platform& platform,
                                             const Schedule& schedule,
                                             const Assignment& assignment);

/// "the transfer of conv_7 to cpu1".
std::string describe_transfer(const Graph& graph, const Platform& platform,
                              const PlannedTransfer& transfer);

/// "conv_7 (device cpu0, stage 2, group 0)".
std::string describe_place(const Graph& graph, const Platform& platform, OpId op,
                           const AssignedTo& place);

}  // namespace hios
