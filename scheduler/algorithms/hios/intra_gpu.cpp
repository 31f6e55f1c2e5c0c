#include "scheduler/algorithms/hios/intra_gpu.h"

#include <algorithm>
#include <vector>

#include "scheduler/algorithms/hios/merge_trials.h"
#include "scheduler/algorithms/hios/stage_graph.h"
#include "scheduler/list/priorities.h"

// Alg. 2 of Kundu and Shu, HIOS. For every operator v_i by priority that is still alone in its
// stage, windows of 2, 3, … w consecutive operators from v_i on along its device are tried. The one
// with the least latency is kept if that is below the latency without it. A window ends at the
// device's end, at an operator of a merged stage, and at `streams` operators.
//
// If an operator of the window depends on another one, by edges or through the order on other
// devices, merging them would break a dependency or make a cycle. Then larger windows need not be
// tried. (Edges alone would miss the cycles through the order on other devices.)
//
// A window that costs no less than its operators one after the other cannot help, since it also
// waits for all their inputs: it is not evaluated. That excludes serial costs at once. MergeTrials
// computes the latency after a merge without recomputing the rest of the schedule where possible;
// it decides as simulating each merged schedule would
// (tests/scheduler/algorithms/hios/fast_forms_test.cpp). Since windows begin in the order of
// priorities, the total is about O(n·w·log n) if latencies rarely tie, O(n·w·(V + E)·log n) at
// most.
//
// pair_in_slack() is not the paper's: Alg. 2 merges where the latency falls, so nothing where
// another device is as late. With less work on the device, another order or mapping may be shorter.
//
// Not optimal: greedy, neighbours only. Tests: tests/scheduler/algorithms/hios/intra_gpu_test.cpp
// (a cycle through another device, merged neighbours, streams) and tests/scheduler/oracle_test.cpp.

namespace hios::scheduler {
namespace {

/// Times in a sweep of pairs at which the latency is computed again. It falls with the pairs, and
/// from then on they must keep the smaller one.
constexpr std::size_t kLatencies = 64;

double serial_ms(const StageGraph& stages, const std::vector<StageGraph::NodeId>& members) {
  double sum = 0;
  for (const auto member : members) sum += stages.cost_ms(member);
  return sum;
}

/// Tries the windows that begin at `op` and keeps the best one if it helps.
void try_windows_from(OpId op, std::size_t window, const CostModel& costs, StageGraph& stages,
                      MergeTrials& trials) {
  const StageGraph::NodeId first = stages.node_of(op);
  if (stages.merged(first)) return;
  const DeviceId device = stages.device(first);
  const int streams = costs.platform().device(device).streams;
  const std::size_t most = std::min(window, static_cast<std::size_t>(std::max(1, streams)));
  std::vector<StageGraph::NodeId> members{first};
  while (members.size() < most) {
    const auto next = stages.after(members.back());
    if (next == StageGraph::kNone || stages.merged(next)) break;
    members.push_back(next);
    if (!stages.mergeable(members)) break;
    const double cost = costs.stage_ms(stages.stage_of(members), device);
    if (cost < serial_ms(stages, members)) trials.try_merging(members, cost);
  }
  trials.merge_best();
}

/// Merges the operator's stage with the next one on its device if both have one operator, the pair
/// takes less time, and the schedule does not get longer.
void try_pair_from(OpId op, const CostModel& costs, StageGraph& stages, MergeTrials& trials) {
  const StageGraph::NodeId first = stages.node_of(op);
  const DeviceId device = stages.device(first);
  const StageGraph::NodeId next = stages.after(first);
  if (costs.platform().device(device).streams < 2 || next == StageGraph::kNone) return;
  if (stages.merged(first) || stages.merged(next)) return;
  const std::vector<StageGraph::NodeId> members{first, next};
  if (!stages.mergeable(members)) return;
  const double cost = costs.stage_ms(stages.stage_of(members), device);
  if (cost < serial_ms(stages, members)) trials.try_in_slack(members, cost);
  trials.merge_best();
}

}  // namespace

StageList pair_in_slack(const Graph& graph, const CostModel& costs, const StageList& list,
                        const Deadline& deadline) {
  const std::vector<OpId> order = operators_of(list);
  StageGraph stages(graph, costs, schedule_of(list, costs.platform()), order);
  MergeTrials trials(stages);
  const std::size_t interval = order.size() / kLatencies + 1;
  for (std::size_t i = 0; i < order.size() && !deadline.expired(); ++i) {
    if (i % interval == 0) trials.renew_latency();
    try_pair_from(order[i], costs, stages, trials);
  }
  return stages.list();
}

TimedSchedule parallelize(const Graph& graph, const CostModel& costs, const Schedule& schedule,
                          std::size_t window, const Deadline& deadline) {
  const std::vector<OpId> order = priority_order(graph, costs);
  StageGraph stages(graph, costs, schedule, order);
  MergeTrials trials(stages);
  for (OpId op : order) {
    if (deadline.expired()) return {stages.schedule(), true};
    try_windows_from(op, window, costs, stages, trials);
  }
  return {stages.schedule(), false};
}

}  // namespace hios::scheduler
