#pragma once

#include <string>
#include <vector>

#include "scheduler/milp/solver.h"

namespace hios::test {

/// A relative tolerance for costs of solvers, wider than milp::kTolerance.
inline constexpr double kSolverTolerance = 1e-5;

/// Returns the names of this build's solvers.
inline std::vector<std::string> solver_names() {
  std::vector<std::string> names;
  for (const auto& solver : scheduler::milp::solvers()) names.push_back(solver.name);
  return names;
}

}  // namespace hios::test
