#include "scheduler/pipeline/algorithms.h"

#include <utility>

#include "scheduler/list/requirements.h"
#include "scheduler/pipeline/grouped_search.h"
#include "scheduler/pipeline/slice_graph.h"

namespace hios::scheduler::pipeline {
namespace {

Outcome outcome_of(bool out_of_time) {
  return out_of_time ? Outcome::kTimeLimit : Outcome::kFeasible;
}

}  // namespace

ScheduleResult run_slice_graph(const Graph& graph, const CostModel& costs, const Platform&,
                               const Options& options, const Context& context) {
  require_placeable(graph, costs, "slice-graph");
  const SliceGraphOptions limits{order_search_named(options.string("order")),
                                 static_cast<std::size_t>(options.integer("population")),
                                 static_cast<std::size_t>(options.integer("generations"))};
  TimedSchedule found = slice_graph(graph, costs, limits, context.seed, context.out_of_time);
  return complete(std::move(found.schedule), outcome_of(found.out_of_time), graph, costs, options,
                  context);
}

ScheduleResult run_best(const Graph& graph, const CostModel& costs, const Platform&,
                        const Options& options, const Context& context) {
  require_placeable(graph, costs, "best");
  const double bound_ms = context.bound ? context.bound->ms : 0;
  PartitionSearchResult result =
      search_grouped(graph, costs, {options.integer("iterations")}, bound_ms, context.seed,
                     {context.out_of_time, context.seconds_left}, context.progress);
  const Outcome outcome = result.optimal ? Outcome::kOptimal : outcome_of(result.found.out_of_time);
  return complete(std::move(result.found.schedule), outcome, graph, costs, options, context);
}

}  // namespace hios::scheduler::pipeline
