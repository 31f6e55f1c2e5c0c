#pragma once

#include <vector>

#include "scheduler/cold/sortinghat/submodel/submodel_problem.h"

namespace hios::scheduler::sortinghat {

/// Times after the start of a submodel that no schedule of it is below.
struct LongestPaths {
  std::vector<double> end_ms;  ///< by operator
  double latency_ms = 0;
};

/// Returns lower bounds by longest paths. Operators of one subgraph run one after the other, and
/// what each waits for, all wait for, so paths through subgraphs are no shorter.
LongestPaths longest_paths(const SubmodelProblem& problem, double start_ms);

}  // namespace hios::scheduler::sortinghat
