#include "earliest_finish.h"

#include <limits>
#include <optional>

#include "hios/base/error.h"
#include "scheduler/list/placement.h"
#include "scheduler/list/priorities.h"
#include "scheduler/list/requirements.h"
#include "scheduler/list/timeline.h"

using namespace hios;
using namespace hios::scheduler;

namespace {

ScheduleResult schedule(const Problem& problem, const Options& options, const Context& context) {
  const Graph& graph = problem.graph();
  const CostModel& costs = problem.costs();
  require_placeable(graph, costs, "earliest-finish");
  Placement placement(graph, costs);  // the devices that an operator may still go to
  ListTimeline timeline(graph, costs, options.boolean("insertion"));
  for (const OpId op : priority_order(graph, costs)) {
    std::optional<DeviceId> best;
    double best_ms = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < problem.platform().size(); ++i) {
      const DeviceId device(i);
      if (!placement.may_go(op, device)) continue;
      const double finish_ms =
          timeline.earliest_start_ms(op, device) + costs.operator_ms(op, device);
      if (finish_ms < best_ms) {
        best = device;
        best_ms = finish_ms;
      }
    }
    if (!best) {
      throw InputError("earliest-finish: no device has room left for operator '" +
                       graph.op(op).name + "'");
    }
    placement.place(op, *best);
    timeline.place(op, *best);
  }
  // complete() simulates the schedule and adds the lower bound.
  return complete(timeline.schedule(), Outcome::kFeasible, problem, options, context);
}

}  // namespace

Algorithm earliest_finish() {
  return {.name = "earliest-finish",
          .description = "by upward rank, each operator where it finishes first",
          .options = {{.name = "insertion",
                       .default_value = true,
                       .help = "use gaps between operators that are already placed"}},
          .run = schedule};
}
