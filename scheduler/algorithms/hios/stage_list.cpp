#include "scheduler/algorithms/hios/stage_list.h"

#include <algorithm>
#include <utility>

#include "hios/evaluate/simulate.h"

// Tests: tests/scheduler/algorithms/hios/stage_passes_test.cpp.

namespace hios::scheduler {

StageList one_operator_list(const Graph& graph, const Schedule& schedule, const CostModel& costs) {
  const Timeline times = simulate(graph, schedule, costs);
  std::vector<std::pair<double, double>> key(graph.size());
  std::vector<DeviceId> device_of(graph.size());
  for (std::size_t d = 0; d < schedule.devices.size(); ++d) {
    for (std::size_t i = 0; i < schedule.devices[d].size(); ++i) {
      for (const Group& group : schedule.devices[d][i].groups) {
        for (const OpId op : group) {
          key[op.index()] = {times.stages[d][i].start_ms, times.stages[d][i].end_ms};
          device_of[op.index()] = DeviceId(d);
        }
      }
    }
  }
  // A consumer starts no earlier than its producer, and equals keep the topological order.
  std::vector<OpId> order(graph.topological().begin(), graph.topological().end());
  std::stable_sort(order.begin(), order.end(),
                   [&](OpId a, OpId b) { return key[a.index()] < key[b.index()]; });
  StageList list{one_operator_stages(order), {}};
  for (const OpId op : order) list.devices.push_back(device_of[op.index()]);
  return list;
}

std::vector<OpId> operators_of(const StageList& list) {
  std::vector<OpId> operators;
  for (const Stage& stage : list.stages) {
    for (const Group& group : stage.groups)
      operators.insert(operators.end(), group.begin(), group.end());
  }
  return operators;
}

Schedule schedule_of(const StageList& list, const Platform& platform) {
  Schedule schedule;
  schedule.devices.resize(platform.size());
  for (std::size_t i = 0; i < list.stages.size(); ++i) {
    schedule.devices[list.devices[i].index()].push_back(list.stages[i]);
  }
  return schedule;
}

}  // namespace hios::scheduler
