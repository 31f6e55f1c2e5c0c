#pragma once

#include <optional>
#include <vector>

#include "hios/evaluate/cost_model.h"
#include "hios/graph/graph.h"
#include "scheduler/deadline.h"
#include "scheduler/list/timeline.h"

namespace hios::scheduler {

/// Returns devices grouped by speed, the slowest group first, each with its devices in order. A
/// device's speed is the least time of its operators on any device, over their time on it. With m
/// devices, one slower than the fastest by more than the factor m is in no group. Speeds between
/// the same two powers of max(2, ln m / ln ln m) form a group.
std::vector<std::vector<DeviceId>> speed_groups(const Graph& graph, const CostModel& costs);

/// Returns the group that each operator may use, by OpId; none if only devices outside the groups
/// can run it. Minimises the greater of the longest path (each operator by its mean time in its
/// group) and the work of any group per device, which the authors' linear program bounds. Here a
/// rule does: all operators begin in their fastest group; then those that lose least move as long
/// as the greater of the two falls.
std::vector<std::optional<std::size_t>> group_assignment(
    const Graph& graph, const CostModel& costs, const std::vector<std::vector<DeviceId>>& groups,
    const Deadline& deadline = {});

/// Schedules by GETF, generalised earliest time first (Su, Ren, Vardi and Wierman,
/// "Communication-Aware Scheduling of Precedence-Constrained Tasks on Related Machines", section
/// 3): earliest time first (EarliestStart), each operator on a device of its group. One operator a
/// stage. The groups are those of group_assignment(), not a linear program's: schedules may differ
/// from the authors', and their guarantee does not hold. Alike devices form one group, which gives
/// plain earliest time first. After the deadline, and where labels and memory exclude all devices:
/// as schedule_heft().
TimedSchedule schedule_getf(const Graph& graph, const CostModel& costs,
                            const Deadline& deadline = {});

}  // namespace hios::scheduler
