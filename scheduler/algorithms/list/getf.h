#pragma once

#include <optional>
#include <vector>

#include "hios/evaluate/cost_model.h"
#include "hios/graph/graph.h"
#include "scheduler/deadline.h"
#include "scheduler/list/timeline.h"

namespace hios::scheduler {

/// Devices by speed. A device's speed is what its operators take at least anywhere, over what they
/// take there. A device slower than the fastest by more than their number is in no group; of the
/// others, those whose speeds lie between the same two powers of max(2, ln m / ln ln m) are one.
/// The slowest group comes first, each with its devices in order.
std::vector<std::vector<DeviceId>> speed_groups(const Graph& graph, const CostModel& costs);

/// Which group each operator may use, by OpId; none where only devices outside the groups can run
/// it. Chosen to make the longest path (each operator by its mean time in its group) and the work
/// of every group over its devices short: the two that the authors' linear program bounds. Here,
/// without one: all begin where they are fastest; then those that lose least go to another group
/// as long as the greater of the two becomes less.
std::vector<std::optional<std::size_t>> group_assignment(
    const Graph& graph, const CostModel& costs, const std::vector<std::vector<DeviceId>>& groups,
    const Deadline& deadline = {});

/// GETF, generalised earliest time first (Su, Ren, Vardi and Wierman, "Communication-Aware
/// Scheduling of Precedence-Constrained Tasks on Related Machines", section 3): earliest time first
/// (EarliestStart), each operator on a device of its group. One operator a stage. The groups of
/// operators are group_assignment()'s, not a linear program's: schedules may differ from the
/// authors', and their guarantee is not claimed. Where all devices are alike there is one group,
/// and this is plain earliest time first. Out of time, and where labels and memory leave no device:
/// as schedule_heft().
TimedSchedule schedule_getf(const Graph& graph, const CostModel& costs,
                            const Deadline& deadline = {});

}  // namespace hios::scheduler
