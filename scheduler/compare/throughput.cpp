#include "scheduler/compare/throughput.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "hios/evaluate/blocks.h"
#include "hios/evaluate/many_inferences.h"
#include "scheduler/pipeline/period_bounds.h"

namespace hios::scheduler {
namespace {

double per_second(double period_ms, const Problem& problem) {
  const auto inputs = static_cast<double>(std::max<std::int64_t>(problem.inputs(), 1));
  return period_ms > 0 ? 1000 * inputs / period_ms : 0;
}

/// Returns the period of a device that runs whole inferences; empty where it cannot run or hold
/// one.
std::optional<double> alone_ms(const Graph& graph, const CostModel& costs, DeviceId id) {
  const Device& device = costs.platform().device(id);
  Bytes held = 0;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    if (!costs.can_run(OpId(i), id)) return {};
    held += graph.op(OpId(i)).memory_bytes + graph.op(OpId(i)).parameter_bytes;
  }
  if (device.memory_bytes > 0 && held > device.memory_bytes) return {};
  Schedule schedule{std::vector<std::vector<Stage>>(costs.platform().size())};
  const auto order = graph.topological();
  schedule.devices[id.index()] = one_operator_stages({order.begin(), order.end()});
  return period_of(graph, schedule, costs).ms();
}

}  // namespace

void predict_throughput(Prediction& predicted, const Problem& problem, const Schedule& schedule,
                        const LowerBound& proven) {
  const Graph& graph = problem.graph();
  const CostModel& costs = problem.costs();
  const Period period = period_of(graph, schedule, costs);
  const InFlight many = least_in_flight(graph, schedule, costs);
  const bool cycle = !cycle_of_blocks(graph, schedule).empty();
  // Bounds and proofs are of the blocks' period; with the fewest buffers it is up to a hundredth
  // longer.
  const double period_ms = cycle ? many.run.period_ms : period.ms();
  predicted.throughput = {period_ms, per_second(period_ms, problem),
                          costs.platform().device(period.bottleneck).name, many.in_flight};
  predicted.lower_bound_ms = 0;
  predicted.bound = "none";
  if (cycle) return;
  LowerBound bound = pipeline::simple_period_bound(graph, costs);
  if (proven.ms > bound.ms) bound = proven;
  predicted.lower_bound_ms = snap_to_latency(bound, period_ms).ms;
  predicted.bound = bound.name;
}

std::optional<Row> copies_of_the_network(const Problem& problem) {
  std::vector<double> each_ms;
  for (std::size_t d = 0; d < problem.platform().size(); ++d) {
    if (const auto ms = alone_ms(problem.graph(), problem.costs(), DeviceId(d)))
      each_ms.push_back(*ms);
  }
  if (each_ms.empty()) return {};
  double in_a_ms = 0;  // inferences
  for (const double ms : each_ms) in_a_ms += ms > 0 ? 1 / ms : 0;
  Row row{.algorithm = "copies", .requested = false};
  row.devices_used = each_ms.size();
  Prediction& predicted = row.many.emplace();
  predicted.latency_ms = *std::max_element(each_ms.begin(), each_ms.end());
  predicted.bound = "none";
  const double period_ms = in_a_ms > 0 ? 1 / in_a_ms : 0;
  predicted.throughput = {period_ms, per_second(period_ms, problem), "", each_ms.size()};
  return row;
}

}  // namespace hios::scheduler
