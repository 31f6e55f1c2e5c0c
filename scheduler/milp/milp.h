#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "scheduler/milp/formulation.h"
#include "scheduler/milp/solver.h"
#include "scheduler/scheduler.h"

namespace hios::scheduler::milp {

struct MilpOptions {
  const Solver* solver = nullptr;  ///< not nullptr
  Symmetry symmetry = Symmetry::kTasks;
  std::int64_t nodes = 0;            ///< of branch and bound, and of stages; 0: any number
  std::int64_t iterations = 50'000;  ///< moves per island of the search for the start
};

struct MilpResult {
  Schedule schedule;
  bool optimal = false;  ///< proved that no schedule is shorter
  bool timed_out = false;
  /// A lower bound of any schedule, proved by the solver. Absent if stages of several groups could
  /// be shorter, and were not all searched.
  std::optional<LowerBound> bound;
};

/// Returns the shortest schedule with one operator after the other on every device, by a mixed
/// integer linear program (formulation.h). It starts from the schedule of a short `best`, and the
/// result is never longer than that. Where stages of several groups can be shorter, all of these
/// are searched first (stage_search.h), which proves the shortest schedule of the smallest problems.
///
/// Small problems only: throws InputError with the size above Formulation::kMostTerms (a solver
/// notices a deadline within 0.1 s at 35,000 terms, 13 s late at 300,000). Also throws InputError
/// if the devices' memory is proved not to suffice. The solver is not trusted: simulate() times its
/// schedule and validate() checks it, a bound is lowered by kTolerance of it, and an answer that
/// contradicts a known schedule is a failure.
///
/// The same arguments give the same result if no deadline ends it; `best` ends at half of the time.
/// If the solver fails, returns the schedule it started from.
MilpResult schedule_exactly(const Graph& graph, const CostModel& costs, const MilpOptions& options,
                            const Context& context);

/// Returns true if a stage of several groups can be shorter than its operators one after the other.
bool stages_can_gain(const Graph& graph, const CostModel& costs);

/// Returns a schedule with the same devices and orders, one operator per stage.
Schedule one_by_one(const Schedule& schedule);

inline constexpr double kTolerance = 1e-6;

}  // namespace hios::scheduler::milp
