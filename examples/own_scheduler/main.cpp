// An own scheduler in addition to those of HIOS: this program is hios-schedule with one more
// algorithm, so --list-algorithms describes it and --compare ranks it among the others.
//
// The algorithm is the classic list schedule of Topcuoglu, Hariri and Wu ("Performance-effective
// and low-complexity task scheduling for heterogeneous computing", 2002, section IV-A): operators
// in the order of their upward ranks, each on the device where it finishes first.

#include <limits>
#include <optional>

#include "cli/schedule/program.h"
#include "hios/base/error.h"
#include "scheduler/list/placement.h"
#include "scheduler/list/priorities.h"
#include "scheduler/list/requirements.h"
#include "scheduler/list/timeline.h"
#include "scheduler/registry.h"

using namespace hios;
using namespace hios::scheduler;

namespace {

ScheduleResult earliest_finish(const Graph& graph, const CostModel& costs, const Platform& platform,
                               const Options& options, const Context& context) {
  require_placeable(graph, costs, "earliest-finish");
  Placement placement(graph, costs);  // the devices that an operator may still go to
  ListTimeline timeline(graph, costs, options.boolean("insertion"));
  for (const OpId op : priority_order(graph, costs)) {
    std::optional<DeviceId> best;
    double best_ms = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < platform.size(); ++i) {
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
  return complete(timeline.schedule(), Outcome::kFeasible, graph, costs, options, context);
}

}  // namespace

int main(int argc, char** argv) {
  Registry registry = built_in();
  registry.add({.name = "earliest-finish",
                .description = "by upward rank, each operator where it finishes first",
                .options = {{.name = "insertion",
                             .default_value = true,
                             .help = "use gaps between operators that are already placed"}},
                .run = earliest_finish});
  return cli::schedule_program(argc, argv, registry);
}
