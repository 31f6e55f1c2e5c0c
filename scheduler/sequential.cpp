#include "scheduler/sequential.h"

namespace hios::scheduler {

Schedule sequential(const Graph& graph, const CostModel& costs, DeviceId device) {
  Schedule schedule;
  schedule.devices.resize(costs.platform().size());
  const auto order = graph.topological();
  schedule.devices[device.index()] = one_operator_stages({order.begin(), order.end()});
  return schedule;
}

}  // namespace hios::scheduler
