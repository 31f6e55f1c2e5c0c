#pragma once

#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "hios/evaluate/cost_model.h"
#include "hios/graph/graph.h"
#include "hios/schedule/schedule.h"
#include "scheduler/bounds/bounds.h"
#include "scheduler/deadline.h"

/// What the period of no valid schedule is below whose blocks form no cycle.
namespace hios::scheduler::pipeline {

/// The simple bound of Archer, Fahrbach, Liu and Prabhu, "Practical Performance Guarantees for
/// Pipelined DNN Inference" (Lemma 3.3), for devices that differ and stages of several groups. One
/// device does each operator's work for each inference, and a stage takes at least the shares of
/// its operators (scheduler/bounds/graph/shares.h); so the most expensive device takes the greatest
/// least path share, and all devices together all least work shares.
LowerBound simple_period_bound(const Graph& graph, const CostModel& costs);

/// The second is the optimum, or nothing. Of the others each is at least as close as those before
/// it, where it has the time.
enum class PeriodBound {
  kSimple,
  kDownSets,    ///< dynamic programming, where down-sets are few (bounds/chains.h)
  kBottleneck,  ///< one block with all that crosses its boundaries (bounds/superblock_bounds.h)
  kBottleneckGuess,  ///< the same for each place of it in the row
  kExact,            ///< all blocks (bounds/exact_bound.h)
};

/// "simple", "downsets", "bottleneck", "bottleneck-guess", "exact".
std::string_view to_string(PeriodBound bound);
/// Each once, in the order above; "all": all. Throws InputError that lists the names.
std::vector<PeriodBound> period_bounds_named(const std::vector<std::string>& names);

/// What is known when a bound is looked for, and how long that may take.
struct PeriodKnowledge {
  double at_least_ms = 0;                                     ///< a lower bound
  double known_ms = std::numeric_limits<double>::infinity();  ///< the period of a valid schedule
  const Schedule* known = nullptr;  ///< (optional) that schedule; its blocks form no cycle
  Deadline deadline = {};           ///< asked often
};

struct PeriodBoundResult {
  LowerBound bound;
  /// Why it is no closer: time, a solver that is not there, too many down-sets. Empty: it is all
  /// that this bound can say.
  std::string remark = {};
};

/// Whether nothing can be shorter than a period above such a bound, but for rounding and the
/// tolerance of solvers.
bool proves(const LowerBound& bound, double period_ms);

/// At least `at_least_ms`, and at most `known_ms`. Pure but for the deadline. Never throws for want
/// of a solver: a remark.
PeriodBoundResult period_bound(PeriodBound which, const Graph& graph, const CostModel& costs,
                               const PeriodKnowledge& known);

}  // namespace hios::scheduler::pipeline
