#pragma once

#include <vector>

#include "hios/evaluate/cost_model.h"
#include "hios/schedule/schedule.h"
#include "scheduler/deadline.h"

namespace hios::scheduler::pipeline {

/// Returns true if stages of several groups may cost less than their operators in serial order on
/// some device, as far as that is known without evaluating stages.
bool groups_may_pay(const CostModel& costs);

/// Groups the operators of each block into stages of several groups where that makes the block
/// cheaper (overflow included), as IOS finds them (scheduler/algorithms/baselines/ios.h), 32
/// operators at a time. REQUIRES: validate() finds nothing, for throughput.
Schedule with_groups(const Schedule& schedule, const CostModel& costs, const Deadline& deadline);

/// Returns, by operator, the ratio of its stage's cost to the serial time of the stage's operators.
std::vector<double> shares_in_stages(const Schedule& schedule, const CostModel& costs);

}  // namespace hios::scheduler::pipeline
