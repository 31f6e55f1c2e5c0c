#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "scheduler/milp/milp.h"
#include "scheduler/scheduler.h"

namespace hios::scheduler::split {

/// The modules of graphs that no single operator divides.
enum class Division {
  kWindows,     ///< neighbourhoods of a schedule, each solved with the rest fixed
  kComponents,  ///< as DiviML prints it: each module by itself (independent.h)
};

/// Returns `windows` or `components`; throws InputError on other names.
Division division_named(const std::string& name);

struct SplitOptions {
  /// The nodes are those of each subproblem, the iterations those of the search for the first
  /// schedule.
  milp::MilpOptions solving;
  std::size_t channels = 4;  ///< tensors that may cross a cut, if no cut with fewer is found
  Division division = Division::kWindows;
};

struct SplitResult {
  Schedule schedule;
  bool optimal = false;  ///< proved: no schedule is shorter
  bool timed_out = false;
  /// A lower bound of every schedule, from proofs of subproblems. Absent where stages of several
  /// groups could be shorter.
  std::optional<LowerBound> bound;
  /// The reason why the schedule is not that of Division::kComponents, in one sentence; else empty.
  std::string warning = {};
};

/// Splits the graph into modules and solves each by milp (Ghannane and Abdelfattah, "DiviML: A
/// Module-based Heuristic for Mapping Neural Networks onto Heterogeneous Platforms", section IV-B).
/// The result is exact where modules are joined by single operators (modules/chain.h). Elsewhere it
/// starts from the schedule of a short `best` and improves neighbourhoods while the rest is fixed
/// (neighbourhoods.h). In parallel it raises bounds by decision diagrams (diagram/gap_closer.h) and
/// of modules (modules/module_bounds.h). The result is never longer than the first schedule.
/// By Division::kComponents nothing is improved afterwards: the result is that of the chain or,
/// where no single operator divides the graph, the modules' schedule, shorter or not. It is the
/// first schedule where that is proved optimal already, or, with a warning, where the modules have
/// no valid schedule.
///
/// Subproblems ignore contention of links; a schedule is taken only if it is shorter with
/// contention.
///
/// Memory and labels couple subproblems: neighbourhoods respect what others hold. A chain of
/// modules counts only if it is valid as a whole; its length is a bound in any case.
///
/// The same arguments give the same result unless a deadline expires. Throws InputError where
/// `best` finds no placement.
SplitResult schedule_by_modules(const Graph& graph, const CostModel& costs,
                                const SplitOptions& options, const Context& context);

}  // namespace hios::scheduler::split
