#pragma once

#include <cstdint>
#include <optional>

#include "scheduler/batches/divisible.h"
#include "scheduler/deadline.h"
#include "scheduler/milp/solver.h"

namespace hios::scheduler {

/// The answer of the batched program.
struct BatchedResult {
  /// The schedule, timed by simulate(); nothing where the solver found none.
  std::optional<TimedDivision> made;
  double program_ms = 0;  ///< the program's own latency of it, at least the simulated one
  bool proved = false;    ///< the program has no shorter one
};

/// Solves the mixed integer linear program of Ghannane and Abdelfattah, "DiviML: A Module-based
/// Heuristic for Mapping Neural Networks onto Heterogeneous Platforms", section IV-A, (1) to (7):
/// which inputs of every operator run on which device, and when. An operator has at most one batch
/// on a device, of neighbouring inputs, and every batch waits for every batch of its predecessors.
/// Only schedules shorter than `below_ms` count. Returns nothing at all where the program is too
/// large: more than kMostBatchedTerms terms. `limits.nodes` is 2000 where neither nodes nor time
/// are limited.
std::optional<BatchedResult> solve_batched(const DivisibleProblem& problem,
                                           const milp::Solver& solver, double below_ms,
                                           milp::Limits limits);
inline constexpr std::size_t kMostBatchedTerms = 30'000;

/// Returns the shorter of divide_by_any() and the program's schedule, by the first solver of this
/// build; the former where there is no solver, or the program is too large.
std::optional<TimedDivision> divide_by_program(const DivisibleProblem& problem,
                                               const Deadline& deadline);

}  // namespace hios::scheduler
