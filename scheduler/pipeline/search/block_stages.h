#pragma once

#include <vector>

#include "hios/evaluate/cost_model.h"
#include "hios/schedule/schedule.h"
#include "scheduler/deadline.h"

namespace hios::scheduler::pipeline {

/// Whether stages of several groups can cost less than their operators one after the other on any
/// device, as far as can be known without a look at each.
bool groups_may_pay(const CostModel& costs);

/// The same blocks, operators of a block in stages of several groups where the block is cheaper so
/// (overflow included), as IOS finds them (scheduler/algorithms/baselines/ios.h), 32 operators at a
/// time. REQUIRES: validate() finds nothing, for throughput.
Schedule with_groups(const Schedule& schedule, const CostModel& costs, const Deadline& deadline);

/// By operator: what of its time its stage leaves it, where the operators of a stage share that
/// alike.
std::vector<double> shares_in_stages(const Schedule& schedule, const CostModel& costs);

}  // namespace hios::scheduler::pipeline
