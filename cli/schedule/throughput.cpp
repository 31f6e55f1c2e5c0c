#include "cli/schedule/throughput.h"

#include <algorithm>

#include "hios/base/error.h"
#include "hios/evaluate/blocks.h"
#include "hios/evaluate/many_inferences.h"
#include "scheduler/pipeline/period_bounds.h"

namespace hios::cli {
namespace {

/// Inputs of an inference.
double batch_of(const ScheduleInputs& inputs) {
  const std::int64_t batch =
      inputs.network() ? inputs.network()->model.batch() : inputs.graph().inputs();
  return static_cast<double>(std::max<std::int64_t>(batch, 1));
}

double per_second(double period_ms, const ScheduleInputs& inputs) {
  return period_ms > 0 ? 1000 * batch_of(inputs) / period_ms : 0;
}

/// The period of a device that runs whole inferences; nothing where it cannot run or hold one.
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

Objective read_objective(const Flags& flags, const ScheduleInputs& inputs) {
  const std::string name = flags.text("objective");
  if (name == to_string(Objective::kLatency)) return Objective::kLatency;
  if (name != to_string(Objective::kThroughput)) {
    throw InputError("--objective takes latency or throughput, not " + quote(name));
  }
  if (inputs.sized()) {
    throw InputError(
        "--objective throughput sends whole batches, one behind the other: say --batch in place of "
        "--inputs");
  }
  if (inputs.platform().contention() != Contention::kNone) {
    throw InputError(
        "--objective throughput knows no contention yet: leave it out of the --platform (io_charge "
        "says how long transfers keep a device busy)");
  }
  return Objective::kThroughput;
}

void predict_throughput(Prediction& predicted, const Graph& graph, const Schedule& schedule,
                        const CostModel& costs, const ScheduleInputs& inputs,
                        const scheduler::LowerBound& proven) {
  const Period period = period_of(graph, schedule, costs);
  const InFlight many = least_in_flight(graph, schedule, costs);
  const bool ring = !cycle_of_blocks(graph, schedule).empty();
  // What bounds and proofs are about; with the fewest places it is up to a hundredth longer.
  const double period_ms = ring ? many.run.period_ms : period.ms();
  predicted.throughput = {period_ms, per_second(period_ms, inputs),
                          costs.platform().device(period.bottleneck).name, many.in_flight};
  predicted.lower_bound_ms = 0;
  predicted.bound = "none";
  if (ring) return;
  scheduler::LowerBound bound = scheduler::pipeline::simple_period_bound(graph, costs);
  if (proven.ms > bound.ms) bound = proven;
  predicted.lower_bound_ms = scheduler::snap_to_latency(bound, period_ms).ms;
  predicted.bound = bound.name;
}

std::optional<ScheduleRun> copies_of_the_network(ScheduleInputs& inputs) {
  const Graph& graph = inputs.graph();
  const CostModel& costs = inputs.costs();
  std::vector<double> each_ms;
  for (std::size_t d = 0; d < inputs.platform().size(); ++d) {
    if (const auto ms = alone_ms(graph, costs, DeviceId(d))) each_ms.push_back(*ms);
  }
  if (each_ms.empty()) return {};
  double a_ms = 0;  // inferences in a millisecond
  for (const double ms : each_ms) a_ms += ms > 0 ? 1 / ms : 0;
  ScheduleRun run{.algorithm = "copies", .file = inputs.blank_file()};
  run.devices_used = each_ms.size();
  Prediction& predicted = run.many.emplace();
  predicted.latency_ms = *std::max_element(each_ms.begin(), each_ms.end());
  predicted.bound = "none";
  const double period_ms = a_ms > 0 ? 1 / a_ms : 0;
  predicted.throughput = {period_ms, per_second(period_ms, inputs), "", each_ms.size()};
  return run;
}

}  // namespace hios::cli
