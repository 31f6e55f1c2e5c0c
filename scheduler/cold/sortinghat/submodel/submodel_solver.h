#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "hios/base/json/options.h"
#include "scheduler/cold/sortinghat/submodel/submodel_problem.h"
#include "scheduler/milp/solver.h"
#include "scheduler/scheduler.h"

namespace hios::scheduler::sortinghat {

/// Throws InputError, which names the algorithm, without a topology, where the option `q` is odd,
/// and where some operator can be on no device.
void require_submodels(const Problem& problem, const Options& options,
                       const std::string& algorithm);
/// Throws InputError as require_submodels() does, and without a solver.
void require_solvable(const Problem& problem, const Options& options, const std::string& algorithm);

/// The schedule of one submodel.
struct SolvedSubmodel {
  SubmodelAssignment assignment;
  SubmodelTimes times;
  bool proved = false;
};

/// Solves submodels, greedily or by the MILP. Refers to its arguments, which outlive it.
class SubmodelSolver {
 public:
  /// Reads the options `solver`, `nodes` and `submodel_seconds`. Throws InputError where this build
  /// has no such solver.
  SubmodelSolver(const Options& options, const Context& context);

  /// Returns the greedy solution; nothing where it finds none. Once the deadline has expired, it is
  /// the first one found.
  static std::optional<SolvedSubmodel> greedy(const SubmodelProblem& problem,
                                              const Deadline& deadline);
  /// Takes the MILP's solution where that is better. `left`: submodels that share the time that is
  /// left, this one included.
  void improve(SolvedSubmodel& found, const SubmodelProblem& problem, std::size_t left) const;

 private:
  const Options& options_;
  const Context& context_;
  const milp::Solver& solver_;
};

}  // namespace hios::scheduler::sortinghat
