#include "scheduler/pipeline/bounds/programs/program_bound.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "scheduler/milp/milp.h"
#include "scheduler/structures/numbers.h"

namespace hios::scheduler::pipeline {
namespace {

constexpr double kTermsOfConsumer = 14;  ///< in the rows of a block: acyclic, sent, received
constexpr double kFirstShare = 0.1;      ///< share of the time, for all below the known period
constexpr double kNextShare = 0.25;      ///< share of the rest, for a shorter period
constexpr double kFirstRise =
    0.125;  ///< from the bound to the known period; then doubled or halved
constexpr double kMaxStep = 0.5;
constexpr double kClose = 1e-4;  ///< share of the period below which that itself is tried again

/// Returns the options with that share of the remaining time.
ProgramOptions with_share(const ProgramOptions& options, double share) {
  ProgramOptions part = options;
  if (share < 1) part.deadline = part.deadline.share(share);
  return part;
}

/// The state of raised_bound().
class Raising {
 public:
  Raising(const LeastCosts& costs, const milp::Solver& solver, const ProgramOptions& options,
          SolveBelow solve)
      : costs_(costs), solver_(solver), options_(options), solve_(solve) {}

  ProgramBound bound() {
    const bool timed = options_.deadline.has_time_limit() && std::isfinite(options_.known_ms);
    best_ = solve_below(options_.known_ms, timed ? kFirstShare : 1);
    if (!timed || best_.finished || !best_.failure.empty()) return best_;
    for (double step = kFirstRise; !options_.deadline.expired() && best_.failure.empty();) {
      const double gap_ms = options_.known_ms - best_.ms;
      const bool close = gap_ms <= kClose * options_.known_ms;
      const double below_ms = close ? options_.known_ms : best_.ms + step * gap_ms;
      const ProgramBound found = solve_below(below_ms, close ? 1 : kNextShare);
      const bool none = found.finished && found.ms >= below_ms * (1 - 2 * milp::kTolerance);
      best_.ms = std::max(best_.ms, found.ms);
      best_.failure = found.failure;
      // Otherwise the period found is the optimum.
      best_.finished = found.finished && (close || !none);
      if (best_.finished || close) break;
      step = none ? std::min(kMaxStep, 2 * step) : step / 2;
    }
    return best_;
  }

 private:
  ProgramBound solve_below(double below_ms, double share) const {
    ProgramOptions options = with_share(options_, share);
    options.at_least_ms = std::min(std::max(options_.at_least_ms, best_.ms), below_ms);
    options.known_ms = below_ms;
    if (below_ms < options_.known_ms) options.known = nullptr;
    ProgramBound found = solve_(costs_, solver_, options);
    // An infeasible program proves its limit only to the solver's tolerance.
    if (below_ms < options_.known_ms) found.ms = std::min(found.ms, below_ms * kLowered);
    return found;
  }

  static constexpr double kLowered = 1 - milp::kTolerance;
  const LeastCosts& costs_;
  const milp::Solver& solver_;
  const ProgramOptions& options_;
  SolveBelow solve_;
  ProgramBound best_;
};

}  // namespace

bool too_large(const LeastCosts& costs, std::size_t blocks, std::size_t classes) {
  double terms = static_cast<double>(costs.size());
  for (const PipelineTensor& tensor : costs.problem().tensors())
    terms += static_cast<double>(tensor.consumers.size());
  return kTermsOfConsumer * terms * static_cast<double>(blocks) * static_cast<double>(classes) >
         kMaxTerms;
}

double unit_of(const LeastCosts& costs, const ProgramOptions& options) {
  if (options.at_least_ms > 0) return options.at_least_ms;
  if (std::isfinite(options.known_ms) && options.known_ms > 0) return options.known_ms;
  return costs.total_work_ms() > 0 ? costs.total_work_ms() : 1;
}

ProgramBound solve_program(const BlockProgram& made, const milp::Solver& solver,
                           const ProgramOptions& options, const std::vector<double>& start,
                           std::size_t parts) {
  if (made.program().terms > kMaxTerms) return {0, false, kTooLarge};
  const ProgramOptions part = with_share(options, 1 / static_cast<double>(parts));
  const milp::Limits limits{.deadline = part.deadline};
  milp::Answer answer = solver.solve(made.program(), start, limits);
  milp::check_answer(answer, made.program(), start);
  if (answer.status == milp::Status::kFailed) return {0, false, answer.message};
  if (answer.status == milp::Status::kInfeasible) return {kInfinity, true};
  const double ms = answer.bound * made.unit_ms() * (1 - milp::kTolerance);
  return {std::max(0.0, ms), answer.status == milp::Status::kOptimal};
}

/// Clamps the bound to the known bound and the known period.
ProgramBound between(ProgramBound bound, const ProgramOptions& options) {
  bound.ms = std::max(std::min(bound.ms, options.known_ms), options.at_least_ms);
  return bound;
}

ProgramBound raised_bound(const LeastCosts& costs, const milp::Solver& solver,
                          const ProgramOptions& options, SolveBelow solve) {
  return Raising(costs, solver, options, solve).bound();
}

}  // namespace hios::scheduler::pipeline
