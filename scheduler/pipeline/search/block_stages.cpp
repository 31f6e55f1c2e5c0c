#include "scheduler/pipeline/search/block_stages.h"

#include <algorithm>

#include "hios/evaluate/blocks.h"
#include "scheduler/algorithms/baselines/ios.h"

// Blocks form no cycle, so no path leaves a block and returns: operators of a block depend on each
// other only directly or through others of the block. IOS gets them by depth, so that operators
// that can run at the same time are close to each other. Test:
// tests/scheduler/pipeline/search/block_stages_test.cpp.

namespace hios::scheduler::pipeline {
namespace {

constexpr std::int64_t kMaxEndingsOfBlock = 100'000;  ///< for 32 operators: a tenth of a second

/// Returns, by operator, the most operators on a path that ends before it.
std::vector<std::size_t> depths(const Graph& graph) {
  std::vector<std::size_t> depth(graph.size(), 0);
  for (const OpId op : graph.topological()) {
    for (const EdgeId edge : graph.out_edges(op)) {
      std::size_t& next = depth[graph.edge(edge).to.index()];
      next = std::max(next, depth[op.index()] + 1);
    }
  }
  return depth;
}

std::vector<OpId> operators_of(const std::vector<Stage>& stages) {
  std::vector<OpId> ops;
  for (const Stage& stage : stages) {
    for (const Group& group : stage.groups) ops.insert(ops.end(), group.begin(), group.end());
  }
  return ops;
}

}  // namespace

bool groups_may_pay(const CostModel& costs) {
  const Platform& platform = costs.platform();
  for (std::size_t d = 0; d < platform.size(); ++d) {
    if (platform.device(DeviceId(d)).streams < 2) continue;
    if (costs.configuration(DeviceId(d)) != nullptr) return true;
    if (costs.graph().stage_cost().kind == StageCostRule::Kind::kOverlap) return true;
  }
  return false;
}

Schedule with_groups(const Schedule& schedule, const CostModel& costs, const Deadline& deadline) {
  const Graph& graph = costs.graph();
  const std::vector<std::size_t> depth = depths(graph);
  Schedule grouped = schedule;
  const Period before = period_of(graph, schedule, costs);
  // The most expensive block first, as the deadline may expire.
  std::vector<std::size_t> devices(schedule.devices.size());
  for (std::size_t d = 0; d < devices.size(); ++d) devices[d] = d;
  std::stable_sort(devices.begin(), devices.end(), [&](std::size_t a, std::size_t b) {
    return before.blocks[a].ms() > before.blocks[b].ms();
  });
  for (const std::size_t d : devices) {
    if (deadline.expired()) break;
    if (costs.platform().device(DeviceId(d)).streams < 2) continue;
    std::vector<OpId> ops = operators_of(schedule.devices[d]);
    std::stable_sort(ops.begin(), ops.end(),
                     [&](OpId a, OpId b) { return depth[a.index()] < depth[b.index()]; });
    IosResult found = schedule_endings_of(graph, costs, DeviceId(d), ops,
                                          {.max_endings = kMaxEndingsOfBlock}, deadline);
    grouped.devices[d] = std::move(found.stages);
  }
  const Period after = period_of(graph, grouped, costs);
  for (std::size_t d = 0; d < devices.size(); ++d) {
    if (after.blocks[d].ms() >= before.blocks[d].ms()) grouped.devices[d] = schedule.devices[d];
  }
  return grouped;
}

std::vector<double> shares_in_stages(const Schedule& schedule, const CostModel& costs) {
  std::vector<double> shares(costs.graph().size(), 1);
  for (std::size_t d = 0; d < schedule.devices.size(); ++d) {
    for (const Stage& stage : schedule.devices[d]) {
      double serial_ms = 0;
      for (const Group& group : stage.groups) {
        for (const OpId op : group) serial_ms += costs.operator_ms(op, DeviceId(d));
      }
      if (serial_ms <= 0) continue;
      const double share = costs.stage_ms(stage, DeviceId(d)) / serial_ms;
      for (const Group& group : stage.groups) {
        for (const OpId op : group) shares[op.index()] = share;
      }
    }
  }
  return shares;
}

}  // namespace hios::scheduler::pipeline
