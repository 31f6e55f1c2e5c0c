#include "scheduler/compare/compare.h"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <utility>

#include "hios/base/error.h"
#include "scheduler/batches/copies.h"
#include "scheduler/batches/divided.h"
#include "scheduler/batches/every_division.h"
#include "scheduler/bounds/bounds.h"
#include "scheduler/cold/cold_start.h"
#include "scheduler/cold/cold_start_bound.h"
#include "scheduler/compare/throughput.h"
#include "scheduler/cuts/cut_search.h"
#include "scheduler/pipeline/period_bounds.h"
#include "scheduler/registry.h"
#include "scheduler/structures/borrowed.h"

// Tests: tests/scheduler/compare/compare_test.cpp; tests/cli/programs/plans/compare_test.cpp for
// the program's tables.

namespace hios::scheduler {
namespace {

constexpr double kShareOfBound = 0.25;  ///< share of the time, at most

/// Returns the algorithm's function for the objective, or else its function for latency.
const ScheduleFunction& function_of(const Algorithm& algorithm, Objective objective) {
  const bool other = objective == Objective::kThroughput && algorithm.run_throughput;
  return other ? algorithm.run_throughput : algorithm.run;
}

/// Returns the objective that schedules of function_of() have.
Objective objective_of(const Algorithm& algorithm, Objective objective) {
  if (objective == Objective::kColdStart) return objective;
  return algorithm.run_throughput ? objective : algorithm.objective;
}

void check_objective(const Algorithm& algorithm, Objective objective) {
  if (algorithm.objective == Objective::kLatency || algorithm.objective == objective) return;
  throw InputError(algorithm.name + " schedules for " +
                   std::string(to_string(algorithm.objective)) + ", not for " +
                   std::string(to_string(objective)));
}

Prediction prediction_of(const ScheduleResult& result) {
  return {result.latency_ms, result.estimated_stages, result.lower_bound_ms, result.bound};
}

/// The schedule that an algorithm made of a problem, and its graph.
struct Planned {
  Division division;
  ScheduleResult result;
  Cuts cuts = {};
  std::optional<Prediction> whole = {};  ///< without cuts
};

Planned plan_cut(const Request& request, const Problem& problem, const Context& context) {
  // Which of the two is shorter depends on the number of devices and on their links.
  const std::array quick = {&built_in().find("hios-lp"), &built_in().find("heft")};
  CutResult made =
      schedule_cut(*problem.cuttable(), *request.algorithm, request.options, quick, context);
  Planned planned{{borrowed(problem.graph()), borrowed(problem.costs())},
                  std::move(made.result),
                  std::move(made.cuts),
                  prediction_of(made.whole)};
  if (made.network == nullptr) return planned;
  planned.division.graph = {made.network, &made.network->coarse.graph};
  planned.division.costs = std::move(made.costs);
  return planned;
}

Planned run(const Request& request, const Problem& problem, const Context& context,
            const LowerBound& resident_bound) {
  const Algorithm& algorithm = *request.algorithm;
  check_objective(algorithm, problem.objective());
  if (problem.objective() == Objective::kColdStart) {
    return {{borrowed(problem.graph()), borrowed(problem.costs())},
            schedule_cold_start(algorithm, problem, request.options, context, resident_bound)};
  }
  if (const DivisibleProblem* const divisible = problem.divisible()) {
    DividedResult made = schedule_divided(*divisible, algorithm, request.options, context);
    return {std::move(made.division), std::move(made.result)};
  }
  if (problem.cuttable() != nullptr) return plan_cut(request, problem, context);
  return {{borrowed(problem.graph()), borrowed(problem.costs())},
          function_of(algorithm, problem.objective())(problem, request.options, context)};
}

Row row_of(const Request& request, const Problem& problem, const Context& context,
           const LowerBound& resident_bound) {
  const double start_s = context.deadline.now_s();
  auto [division, result, cuts, whole] = run(request, problem, context, resident_bound);
  Row row{.algorithm = request.algorithm->name,
          .graph = std::move(division.graph),
          .costs = std::move(division.costs),
          .schedule = std::move(result.schedule),
          .options = std::move(result.options),
          .objective = objective_of(*request.algorithm, problem.objective()),
          .outcome = result.outcome,
          .warning = std::move(result.warning),
          .seconds = context.deadline.now_s() - start_s,
          .predicted = prediction_of(result),
          .cuts = std::move(cuts),
          .whole = std::move(whole)};
  describe(row);
  if (problem.objective() != Objective::kThroughput) return row;
  row.many = row.predicted;
  LowerBound proven;
  if (row.objective == Objective::kThroughput) proven = {result.lower_bound_ms, result.bound};
  predict_throughput(*row.many, problem, row.schedule, proven);
  if (row.objective == Objective::kThroughput) row.predicted = *row.many;
  return row;
}

/// Returns data parallelism over inputs that can be divided; nothing where it is not possible.
std::optional<Row> copies_of(const DivisibleProblem& divisible, const LowerBound& bound,
                             const Deadline& deadline) {
  const double start_s = deadline.now_s();
  auto made = copies(divisible);
  if (!made) return {};
  Row row{
      .algorithm = "copies",
      .requested = false,
      .graph = std::move(made->division.graph),
      .costs = std::move(made->division.costs),
      .schedule = std::move(made->schedule),
      .seconds = deadline.now_s() - start_s,
      .predicted = {made->latency_ms, 0, snap_to_latency(bound, made->latency_ms).ms, bound.name}};
  describe(row);
  return row;
}

/// Makes the largest bound that an algorithm proved the bound of all rows. Throws RunError where a
/// schedule is shorter: then it is no bound.
void share_bounds(std::vector<Row>& rows) {
  const auto known = [](const Row& row) { return row.refusal ? -1 : row.predicted.lower_bound_ms; };
  const auto best = std::max_element(
      rows.begin(), rows.end(), [&](const Row& a, const Row& b) { return known(a) < known(b); });
  if (best == rows.end() || known(*best) <= 0) return;
  const LowerBound bound{known(*best), best->predicted.bound};
  for (Row& row : rows) {
    Prediction& predicted = row.predicted;
    if (row.refusal || predicted.lower_bound_ms >= bound.ms) continue;
    predicted.lower_bound_ms = snap_to_latency(bound, predicted.latency_ms).ms;
    predicted.bound = bound.name;
    if (predicted.lower_bound_ms > predicted.latency_ms) {
      throw RunError("the bound of " + best->algorithm + " (" + bound.name +
                     ") is above the schedule of " + row.algorithm);
    }
  }
}

class Comparison {
 public:
  Comparison(const Problem& problem, std::span<const Request> requests, const Deadline& deadline,
             const CompareOptions& options)
      : problem_(problem), requests_(requests), deadline_(deadline), options_(options) {}

  std::vector<Row> rows() {
    find_bound();
    const double seconds = deadline_.seconds_left();
    const std::optional<Row> copies = data_parallelism();
    std::vector<Row> rows;
    std::size_t refused = 0;
    for (const Request& request : requests_) {
      if (deadline_.stop_requested() && rows.size() > refused) break;
      try {
        rows.push_back(
            row_of(request, problem_, context_of(*request.algorithm, seconds), resident_bound_));
      } catch (const InputError& error) {
        if (++refused == requests_.size() && !copies) throw;
        rows.push_back({.algorithm = request.algorithm->name, .refusal = error});
      }
    }
    if (copies && !deadline_.stop_requested()) rows.push_back(*copies);
    // Bounds of periods are of blocks that form no cycle, and all those rows have the same; rows
    // with other cuts have other graphs.
    if (problem_.objective() != Objective::kThroughput && problem_.cuttable() == nullptr) {
      share_bounds(rows);
    }
    return rows;
  }

 private:
  /// Finds the problem's bound, once and in no algorithm's time.
  void find_bound() {
    const bool needed = std::ranges::any_of(requests_, [&](const Request& each) {
      return objective_of(*each.algorithm, problem_.objective()) != Objective::kThroughput;
    });
    if (!needed) return;
    const Deadline part = deadline_.share(kShareOfBound);
    bound_ = problem_.divisible() != nullptr
                 ? bound_of_every_division(*problem_.divisible(), part)
                 : lower_bound(problem_.graph(), problem_.costs(), part);
    resident_bound_ = bound_;
    if (problem_.objective() == Objective::kColdStart) {
      bound_ = cold_start_bound(problem_.graph(), problem_.costs(), part);
    }
  }

  std::optional<Row> data_parallelism() const {
    if (requests_.size() < 2) return {};
    if (problem_.objective() == Objective::kThroughput) return copies_of_the_network(problem_);
    if (problem_.divisible() == nullptr) return {};
    return copies_of(*problem_.divisible(), bound_, deadline_);
  }

  Context context_of(const Algorithm& algorithm, double seconds) const {
    Context context{.seed = options_.seed,
                    .deadline = deadline_.from_now(seconds),
                    .progress = {},
                    .bound = bound_};
    if (options_.progress) context.progress = options_.progress(algorithm.name);
    // A problem of latency is refused later, and has no costs where its inputs can be divided.
    if (problem_.objective() == Objective::kThroughput &&
        objective_of(algorithm, problem_.objective()) == Objective::kThroughput) {
      context.bound = pipeline::simple_period_bound(problem_.graph(), problem_.costs());
    }
    return context;
  }

  const Problem& problem_;
  std::span<const Request> requests_;
  const Deadline& deadline_;
  const CompareOptions& options_;
  LowerBound bound_{0, "none"};           ///< bound of the latency
  LowerBound resident_bound_{0, "none"};  ///< bound where all parameters are on the devices
};

}  // namespace

std::vector<Row> compare(const Problem& problem, std::span<const Request> requests,
                         const Deadline& deadline, const CompareOptions& options) {
  return Comparison(problem, requests, deadline, options).rows();
}

}  // namespace hios::scheduler
