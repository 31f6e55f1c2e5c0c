#include "scheduler/cold/sortinghat/submodel/submodel_solver.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "hios/base/error.h"
#include "scheduler/cold/sortinghat/submodel/submodel_greedy.h"
#include "scheduler/cold/sortinghat/submodel/submodel_program.h"
#include "scheduler/list/requirements.h"

// A solver is not trusted: what its values are worth is computed again, and the greedy solution
// stays where they are no better.
//
// Test: tests/scheduler/cold/sortinghat/sortinghat_test.cpp

namespace hios::scheduler::sortinghat {

void require_submodels(const Problem& problem, const Options& options,
                       const std::string& algorithm) {
  if (!problem.platform().topology()) {
    throw InputError(algorithm + " loads parameters, and the platform has no routes for them");
  }
  const std::int64_t q = options.integer("q");
  if (q % 2 != 0) {
    throw InputError(algorithm + ": q is " + std::to_string(q) +
                     "; it must be even, since every other subgraph reads in place");
  }
  require_placeable(problem.graph(), problem.costs(), algorithm);
}

void require_solvable(const Problem& problem, const Options& options,
                      const std::string& algorithm) {
  require_submodels(problem, options, algorithm);
  if (milp::solvers().empty()) {
    throw InputError(algorithm +
                     " needs a solver of linear programs, and this build found none: install HiGHS "
                     "or Cbc, and build again");
  }
}

SubmodelSolver::SubmodelSolver(const Options& options, const Context& context)
    : options_(options), context_(context), solver_(milp::solver_named(options.string("solver"))) {}

std::optional<SolvedSubmodel> SubmodelSolver::greedy(const SubmodelProblem& problem,
                                                     const Deadline& deadline) {
  auto assignment = greedy_assignment(problem, deadline);
  if (!assignment) return {};
  SubmodelTimes times = *times_of(problem, *assignment);
  return SolvedSubmodel{std::move(*assignment), std::move(times)};
}

void SubmodelSolver::improve(SolvedSubmodel& found, const SubmodelProblem& problem,
                             std::size_t left) const {
  if (context_.deadline.expired()) return;
  const auto report = [&](const std::string& line) {
    if (context_.progress) context_.progress(line);
  };
  const char* const too_large = "the program of a submodel is too large; it stays greedy";
  if (SubmodelProgram::least_terms(problem) > SubmodelProgram::kMostTerms) return report(too_large);
  const SubmodelProgram program(problem, found.times);
  if (program.too_large()) return report(too_large);
  milp::Limits limits;
  limits.nodes = options_.integer("nodes");
  const double share_s = context_.deadline.seconds_left() / static_cast<double>(left);
  limits.deadline = context_.deadline.within(
      std::min(static_cast<double>(options_.integer("submodel_seconds")), share_s));
  const std::vector<double> start = program.values(found.assignment, found.times);
  milp::Answer answer = solver_.solve(program.program(), start, limits);
  milp::check_answer(answer, program.program(), start);
  if (answer.status == milp::Status::kFailed) report("the solver failed: " + answer.message);
  found.proved = answer.status == milp::Status::kOptimal;
  if (answer.values.empty()) return;
  SubmodelAssignment solved = program.assignment(answer.values);
  if (std::ranges::find(solved.subgraph, kUnplaced) != solved.subgraph.end()) return;
  auto times = times_of(problem, solved);
  if (!times || !times->better_than(found.times)) return;
  found.assignment = std::move(solved);
  found.times = std::move(*times);
}

}  // namespace hios::scheduler::sortinghat
