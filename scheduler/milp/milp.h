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
  std::int64_t nodes = 0;            ///< of branch and bound; 0: any number
  std::int64_t iterations = 50'000;  ///< moves of each island of the search that it starts from
};

struct MilpResult {
  Schedule schedule;
  bool optimal = false;  ///< it is proved that no schedule is shorter
  bool timed_out = false;
  /// Of any schedule, proved by the solver; nothing where stages of several groups could be
  /// shorter.
  std::optional<LowerBound> bound;
};

/// The shortest schedule with one operator after the other on every device, by a mixed integer
/// linear program (formulation.h), from the schedule of a short `best`: never longer than that.
///
/// Small problems only: throws InputError, which names the size, above Formulation::kMostTerms (a
/// solver hears that time is up within 0.1 s at 35,000 terms, 13 s late at 300,000); also where
/// devices' memory is proved not to suffice. What a solver says is not trusted: a schedule is timed
/// by simulate() and judged by validate(), a bound counts less kTolerance of it, and an answer that
/// contradicts a known schedule is a failure.
///
/// The same arguments give the same result where no deadline ends it; `best` ends at half of
/// the time. A solver that fails leaves what it began with.
MilpResult schedule_exactly(const Graph& graph, const CostModel& costs, const MilpOptions& options,
                            const Context& context);

/// Whether a stage of several groups can be shorter than its operators one after the other.
bool stages_can_gain(const Graph& graph, const CostModel& costs);

/// The same devices and orders, a stage for every operator.
Schedule one_by_one(const Schedule& schedule);

inline constexpr double kTolerance = 1e-6;

}  // namespace hios::scheduler::milp
