#include "scheduler/split/whole_graph.h"

#include <algorithm>

#include "hios/evaluate/simulate.h"
#include "scheduler/milp/cuts.h"
#include "scheduler/milp/formulation.h"
#include "scheduler/milp/solver.h"

// Operators of different modules are mostly on a path, so few pairs need an order variable: the
// program of a hundred operators in modules is no larger than that of thirty without. The horizon
// is the best schedule found so far.

namespace hios::scheduler::split {
namespace {

constexpr std::size_t kMaxOperatorsOfCuts = 400;  // above, separating cuts takes long
constexpr std::int64_t kNodesOfWholeGraph = 200;  // without a limit of time or nodes

}  // namespace

WholeGraphResult solve_whole_graph(const CostModel& costs, const Schedule& known,
                                   const milp::MilpOptions& options, const Context& context) {
  WholeGraphResult result;
  if (costs.graph().size() > kMaxOperatorsOfCuts) return result;
  const double known_ms = simulate(costs.graph(), known, costs).latency_ms;
  const milp::Horizon horizon(costs.graph(), costs, known_ms);
  if (horizon.infeasible()) return result;
  milp::Formulation formulation(horizon, costs, options.symmetry);
  if (formulation.too_large()) return result;
  milp::Limits limits;
  limits.nodes = options.nodes;
  if (limits.nodes == 0 && !context.deadline.has_time_limit()) limits.nodes = kNodesOfWholeGraph;
  limits.deadline = context.deadline;
  result.bound_ms = milp::tighten(formulation, *options.solver, limits);
  const auto start = formulation.values(known, costs);
  milp::Answer answer = options.solver->solve(formulation.program(), start, limits);
  milp::check_answer(answer, formulation.program(), start);
  if (answer.bound > 0) result.bound_ms = std::max(result.bound_ms, formulation.ms(answer.bound));
  result.bound_ms = std::min(result.bound_ms, known_ms);
  if (!answer.values.empty()) result.schedule = formulation.schedule(answer.values);
  return result;
}

}  // namespace hios::scheduler::split
