#pragma once

#include <limits>
#include <string>
#include <vector>

#include "scheduler/deadline.h"
#include "scheduler/milp/solver.h"
#include "scheduler/pipeline/bounds/least_costs.h"
#include "scheduler/pipeline/bounds/programs/block_program.h"

/// How mixed integer programs of blocks become lower bounds of the period (Archer, Fahrbach, Liu
/// and Prabhu, "Practical Performance Guarantees for Pipelined DNN Inference", section 3).
namespace hios::scheduler::pipeline {

/// Blocks in a row that form no cycle, one a device.
struct KnownBlocks {
  std::vector<std::size_t> block_of;  ///< by vertex
  std::vector<std::size_t> class_of;  ///< by block
};

/// What a program is told, and how long it may take.
struct ProgramOptions {
  double at_least_ms = 0;                                     ///< a lower bound
  double known_ms = std::numeric_limits<double>::infinity();  ///< the period of a known schedule
  const KnownBlocks* known = nullptr;                         ///< (optional) its blocks
  Deadline deadline = {};                                     ///< as milp::Limits
};

struct ProgramBound {
  double ms = 0;             ///< 0: nothing is known
  bool finished = false;     ///< the program was solved, or nothing below the known period is there
  std::string failure = {};  ///< what the solver says, or that the program is too large; else empty
};

/// Above so many terms a program is not made: solvers hear late then that time is up.
inline constexpr std::size_t kMostTerms = 400'000;
inline constexpr const char* kTooLarge = "the program is too large";

/// Whether programs of so many blocks on so many classes would have more than kMostTerms terms.
bool too_large(const LeastCosts& costs, std::size_t blocks, std::size_t classes);

/// In which a program's times are close to 1; in ms.
double unit_of(const LeastCosts& costs, const ProgramOptions& options);

/// A bound of the program's period, lowered by milp::kTolerance; infinite where there is none.
/// `start`: values by column, or empty. `parts`: how many programs share the time that is left.
ProgramBound solve_program(const BlockProgram& made, const milp::Solver& solver,
                           const ProgramOptions& options, const std::vector<double>& start,
                           std::size_t parts);

/// Nothing is above the known period, or below the known bound.
ProgramBound between(ProgramBound bound, const ProgramOptions& options);

/// What makes and solves the programs of a bound once, all below the known period.
using SolveBelow = ProgramBound (*)(const LeastCosts&, const milp::Solver&, const ProgramOptions&);

/// Such a bound. A program where a period must be shorter has tighter windows and rows, and is
/// often seen to be impossible when the known period's is far from solved: then the bound is as
/// long. So where there is a clock, shorter periods are tried between the bound and the known one,
/// longer after each that is impossible.
ProgramBound raised_bound(const LeastCosts& costs, const milp::Solver& solver,
                          const ProgramOptions& options, SolveBelow solve);

}  // namespace hios::scheduler::pipeline
