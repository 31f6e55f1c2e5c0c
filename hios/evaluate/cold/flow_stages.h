#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "hios/evaluate/cold/flows.h"
#include "hios/evaluate/cost_model.h"
#include "hios/graph/parameters.h"
#include "hios/schedule/assignment.h"
#include "hios/schedule/schedule.h"

/// The stages and messages of a schedule with all that they wait for, for simulate_flows().
namespace hios {

/// A tensor that travels to another device.
struct FlowMessage {
  OpId producer;
  DeviceId from, to;
  EdgeId edge;      ///< that with the longest time alone to that device
  ByteRange bytes;  ///< that edge's; of ranges, from the first to the last that is read there
  Flows::Flow flow;
  double least_ms = 0;  ///< its time alone
};

/// A stage, and the events at its end.
struct FlowStage {
  DeviceId device;
  std::size_t index = 0;                    ///< among the device's stages
  double cost_ms = 0;                       ///< where it reads in place, the least that it takes
  std::optional<Flows::Flow> read = {};     ///< where it reads in place
  std::size_t waits = 0;                    ///< edges from other stages, and the previous stage
  std::vector<std::size_t> sets = {};       ///< parameters that its device must hold
  std::vector<std::size_t> evicted = {};    ///< parameters that its device frees
  std::vector<std::size_t> consumers = {};  ///< stages of the same device, one for each edge
  std::vector<std::size_t> messages = {};   ///< indices of FlowPlan::messages
  std::vector<std::size_t> receives = {};   ///< of those to its device, the ones it reads first
};

struct FlowPlan {
  std::vector<FlowStage> stages;      ///< numbered as in Assignment
  std::vector<FlowMessage> messages;  ///< by producer, then destination
  std::vector<std::size_t> stage_of;  ///< by operator
  std::vector<std::size_t> first;     ///< by device, the number of its first stage
  std::size_t estimated = 0;          ///< stages whose cost was not measured
  std::size_t number(DeviceId device, std::size_t index) const {
    return first[device.index()] + index;
  }
};

/// Returns the plan of a schedule; `sets` are null where it has no weights. Flows refer to the
/// topology. Throws std::logic_error where an operator is missing or there twice, an operator read
/// in place is not alone in its stage or has no time, and where a route is missing.
FlowPlan plan_flow_stages(const Graph& graph, const Schedule& schedule, const CostModel& costs,
                          const ParameterSets* sets);

}  // namespace hios
