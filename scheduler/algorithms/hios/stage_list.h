#pragma once

#include <vector>

#include "hios/evaluate/cost_model.h"
#include "hios/graph/graph.h"
#include "hios/schedule/schedule.h"

namespace hios::scheduler {

/// A schedule as one list of stages. It is a topological order: no edge leads backwards, and each
/// device runs its stages in the list's order.
struct StageList {
  std::vector<Stage> stages;
  std::vector<DeviceId> devices;  ///< by stage
};

/// Returns the schedule's operators on their devices, one a stage, by the start of their stages.
/// REQUIRES: the schedule is valid.
StageList one_operator_list(const Graph& graph, const Schedule& schedule, const CostModel& costs);

/// Returns all operators, in the list's order.
std::vector<OpId> operators_of(const StageList& list);

Schedule schedule_of(const StageList& list, const Platform& platform);

}  // namespace hios::scheduler
