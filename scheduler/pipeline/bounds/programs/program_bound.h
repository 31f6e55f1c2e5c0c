#pragma once

#include <limits>
#include <string>
#include <vector>

#include "scheduler/deadline.h"
#include "scheduler/milp/solver.h"
#include "scheduler/pipeline/bounds/least_costs.h"
#include "scheduler/pipeline/bounds/programs/block_program.h"

/// Lower bounds of the period by mixed integer programs of blocks (Archer, Fahrbach, Liu and
/// Prabhu, "Practical Performance Guarantees for Pipelined DNN Inference", section 3).
namespace hios::scheduler::pipeline {

/// Consecutive blocks that form no cycle, one a device.
struct KnownBlocks {
  std::vector<std::size_t> block_of;  ///< by vertex
  std::vector<std::size_t> class_of;  ///< by block
};

/// Known bounds and blocks, and the time limit of a program.
struct ProgramOptions {
  double at_least_ms = 0;                                     ///< a lower bound
  double known_ms = std::numeric_limits<double>::infinity();  ///< the period of a known schedule
  const KnownBlocks* known = nullptr;                         ///< (optional) its blocks
  Deadline deadline = {};                                     ///< like milp::Limits::deadline
};

struct ProgramBound {
  double ms = 0;             ///< 0: no bound
  bool finished = false;     ///< the program was solved, or shown infeasible below the known period
  std::string failure = {};  ///< the solver's message, or that the program is too large; else empty
};

/// The most terms of a program: in larger ones, solvers notice a deadline late.
inline constexpr std::size_t kMaxTerms = 400'000;
inline constexpr const char* kTooLarge = "the program is too large";

/// Returns true if programs of so many blocks and classes would have more than kMaxTerms terms.
bool too_large(const LeastCosts& costs, std::size_t blocks, std::size_t classes);

/// Returns a unit, in ms, in which a program's times are close to 1.
double unit_of(const LeastCosts& costs, const ProgramOptions& options);

/// Returns a bound of the program's period, lowered by milp::kTolerance; infinite if infeasible.
/// `start`: values by column, or empty. `parts`: the number of programs that share the remaining
/// time.
ProgramBound solve_program(const BlockProgram& made, const milp::Solver& solver,
                           const ProgramOptions& options, const std::vector<double>& start,
                           std::size_t parts);

/// Clamps the bound to the known bound and the known period.
ProgramBound between(ProgramBound bound, const ProgramOptions& options);

/// A function that builds and solves the programs of a bound once, below the known period.
using SolveBelow = ProgramBound (*)(const LeastCosts&, const milp::Solver&, const ProgramOptions&);

/// Raises such a bound repeatedly. A program of a shorter period has tighter windows and rows. It
/// is often proved infeasible while that of the known period is far from solved, and then its
/// period is a bound. So with a time limit, periods between the bound and the known one are tried,
/// a longer one after each that is infeasible.
ProgramBound raised_bound(const LeastCosts& costs, const milp::Solver& solver,
                          const ProgramOptions& options, SolveBelow solve);

}  // namespace hios::scheduler::pipeline
