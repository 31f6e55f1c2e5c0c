#include "scheduler/cold/pipelined.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "hios/base/error.h"
#include "hios/evaluate/simulate.h"
#include "scheduler/algorithms/baselines/sequential.h"
#include "scheduler/cold/loads.h"
#include "scheduler/list/requirements.h"

namespace hios::scheduler {
namespace {

ScheduleResult on_one_device(std::string_view name, LoadOrder order, const Problem& problem,
                             const Options& options, const Context& context) {
  if (!problem.platform().topology()) {
    throw InputError(std::string(name) +
                     " loads parameters, and the platform has no routes for them");
  }
  const Graph& graph = problem.graph();
  const Platform& platform = problem.platform();
  single_device(graph, problem.costs(), name);  // throws where no device can run and hold all
  std::optional<Schedule> shortest;
  std::optional<InputError> refusal;
  double least_ms = 0;
  for (std::size_t d = 0; d < platform.size(); ++d) {
    const DeviceId only[] = {DeviceId(d)};
    try {
      const CostModel costs = problem.costs().only(only);
      const DeviceId device = single_device(graph, costs, name);
      Schedule schedule = with_loads(scheduler::on_one_device(platform, device, sequential(graph)),
                                     graph, platform, order);
      const double ms = simulate(graph, schedule, problem.costs()).latency_ms;
      if (shortest && ms >= least_ms) continue;
      shortest = std::move(schedule);
      least_ms = ms;
    } catch (const InputError& error) {
      if (!refusal) refusal = error;
    }
  }
  if (!shortest) throw *refusal;
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
