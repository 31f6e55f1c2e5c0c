#pragma once

#include <string>

#include "cli/run/run_inputs.h"
#include "engine/run/executor.h"
#include "engine/run/plan.h"

namespace hios::cli {

/// What --verify found, over all ranks.
struct Verified {
  Comparison worst;            ///< of all values compared with the reference backend
  std::string worst_operator;  ///< where the largest absolute error stands
  std::string first_outside;   ///< the first operator beyond the tolerance, in topological order
  std::string first_unequal;   ///< the first whose bits are not those of one rank
  bool compared_bits = true;   ///< no: backends or arithmetics differ, so no one rank is alike
  std::size_t operators = 0;   ///< compared
  bool passed() const { return worst.outside == 0; }
  bool bitwise() const { return first_unequal.empty(); }
};

/// Compares what this run computed with the reference backend (within the tolerance) and with one
/// rank that gives each operator the same number of threads (bit by bit, where all ranks have the
/// same backend and arithmetic): the graph's outputs as
/// `executor` left them, or, with Verify::kOperators, every operator of a further run that keeps
/// all tensors. Collective; every rank gets the same answer.
Verified verify_run(const RunJob& job, mpi::Transport& transport, Backend& backend,
                    TensorSource& source, const RankPlan& plan, const Executor& executor);

}  // namespace hios::cli
