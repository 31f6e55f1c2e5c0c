#include "scheduler/cold/pipelined.h"

#include <optional>
#include <string_view>
#include <utility>

#include "hios/evaluate/simulate.h"
#include "scheduler/algorithms/baselines/sequential.h"
#include "scheduler/cold/loads.h"
#include "scheduler/cold/one_device.h"

namespace hios::scheduler {
namespace {

ScheduleResult on_one_device(std::string_view name, LoadOrder order, const Problem& problem,
                             const Options& options, const Context& context) {
  const Graph& graph = problem.graph();
  const Platform& platform = problem.platform();
  std::optional<Schedule> shortest;
  double least_ms = 0;
  for_each_single_device(name, problem.costs(), [&](DeviceId device) {
    Schedule schedule = with_loads(scheduler::on_one_device(platform, device, sequential(graph)),
                                   graph, platform, order);
    const double ms = simulate(graph, schedule, problem.costs()).latency_ms;
    if (shortest && ms >= least_ms) return;
    shortest = std::move(schedule);
    least_ms = ms;
  });
  return complete(std::move(*shortest), Outcome::kFeasible, problem, options, context);
}

}  // namespace

ScheduleResult load_then_run(const Problem& problem, const Options& options,
                             const Context& context) {
  return on_one_device("load-then-run", LoadOrder::kLoadFirst, problem, options, context);
}

ScheduleResult pipelined(const Problem& problem, const Options& options, const Context& context) {
  return on_one_device("pipelined", LoadOrder::kPipelined, problem, options, context);
}

}  // namespace hios::scheduler
