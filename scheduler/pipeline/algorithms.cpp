#include "scheduler/pipeline/algorithms.h"

#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hios/evaluate/blocks.h"
#include "scheduler/list/requirements.h"
#include "scheduler/pipeline/bounds/down_set_bound.h"
#include "scheduler/pipeline/period_bounds.h"
#include "scheduler/pipeline/search/grouped_search.h"
#include "scheduler/pipeline/slicing/slice_graph.h"
#include "scheduler/structures/numbers.h"

namespace hios::scheduler::pipeline {
namespace {

constexpr double kShareOfProof = 0.25;  // share of the time

Outcome outcome_of(bool timed_out) { return timed_out ? Outcome::kTimeLimit : Outcome::kFeasible; }

/// The result of the dynamic programming over down-sets: the optimum, or a bound.
struct Proof {
  LowerBound bound;
  std::optional<Schedule> schedule = {};  ///< its blocks, if any
  double period_ms = std::numeric_limits<double>::infinity();
};

Proof prove(const Graph& graph, const CostModel& costs, const LowerBound& known,
            const Context& context) {
  const PipelineProblem problem(graph, costs);
  const LeastCosts least(problem);
  const DownSetBound found =
      down_set_bound(least, known.ms, std::numeric_limits<double>::infinity(),
                     context.deadline.share(kShareOfProof));
  Proof proof{known};
  if (found.chain.bound_ms > known.ms)
    proof.bound = {found.chain.bound_ms, std::string(to_string(PeriodBound::kDownSets))};
  if (!found.chain.blocks) return proof;
  // Slice its order again: the bound's blocks have least costs, these the full ones.
  const std::vector<Vertex>& order = found.chain.blocks->order;
  const Slicing slicing = Slicer(problem).slice(order);
  if (slicing.period_ms == std::numeric_limits<double>::infinity()) return proof;
  proof.schedule = schedule_of(problem, order, slicing);
  proof.period_ms = slicing.period_ms;
  return proof;
}

}  // namespace

ScheduleResult run_slice_graph(const Problem& problem, const Options& options,
                               const Context& context) {
  const Graph& graph = problem.graph();
  const CostModel& costs = problem.costs();
  require_placeable(graph, costs, "slice-graph");
  const SliceGraphOptions limits{order_search_named(options.string("order")),
                                 static_cast<std::size_t>(options.integer("population")),
                                 static_cast<std::size_t>(options.integer("generations"))};
  TimedSchedule found = slice_graph(graph, costs, limits, context.seed, context.deadline);
  return complete(std::move(found.schedule), outcome_of(found.timed_out), problem, options,
                  context);
}

ScheduleResult run_best(const Problem& problem, const Options& options, const Context& context) {
  const Graph& graph = problem.graph();
  const CostModel& costs = problem.costs();
  require_placeable(graph, costs, "best");
  const LowerBound known = context.bound ? *context.bound : simple_period_bound(graph, costs);
  // A result within a time limit depends on the machine, so with a number of moves no proof is
  // tried.
  Proof proof =
      options.integer("iterations") > 0 ? Proof{known} : prove(graph, costs, known, context);
  Context informed = context;
  informed.bound = proof.bound;
  if (proof.schedule && proof.period_ms <= proof.bound.ms * (1 + kRounding)) {
    return complete(*std::move(proof.schedule), Outcome::kOptimal, problem, options, informed);
  }
  PartitionSearchResult result =
      search_grouped(graph, costs, {options.integer("iterations")}, proof.bound.ms, context.seed,
                     context.deadline, context.progress);
  if (proof.period_ms < period_of(graph, result.found.schedule, costs).ms())
    result.found.schedule = *std::move(proof.schedule);
  const Outcome outcome = result.optimal ? Outcome::kOptimal : outcome_of(result.found.timed_out);
  return complete(std::move(result.found.schedule), outcome, problem, options, informed);
}

}  // namespace hios::scheduler::pipeline
