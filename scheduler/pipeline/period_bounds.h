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

/// Lower bounds of the period of schedules whose blocks form no cycle.
namespace hios::scheduler::pipeline {

/// Returns the simple bound of Archer, Fahrbach, Liu and Prabhu, "Practical Performance Guarantees
/// for Pipelined DNN Inference" (Lemma 3.3), for unlike devices and stages of several groups. One
/// device does each operator's work for each inference, and a stage takes at least the shares of
/// its operators (scheduler/bounds/graph/shares.h). So the most expensive device takes the greatest
/// least path share, and all devices together take all least work shares.
LowerBound simple_period_bound(const Graph& graph, const CostModel& costs);

/// The kinds of bounds. kDownSets is the optimum or nothing. Each other one is at least as close as
/// those before it, if the time suffices.
enum class PeriodBound {
  kSimple,
  kDownSets,    ///< dynamic programming over few down-sets (bounds/chains.h)
  kBottleneck,  ///< one block with the tensors across its boundaries (bounds/superblock_bounds.h)
  kBottleneckGuess,  ///< the same for each index of the block
  kExact,            ///< all blocks (bounds/exact_bound.h)
};

/// Returns "simple", "downsets", "bottleneck", "bottleneck-guess" or "exact".
std::string_view to_string(PeriodBound bound);
/// Returns each named bound once, in the order above; "all": all. Throws InputError that lists the
/// names.
std::vector<PeriodBound> period_bounds_named(const std::vector<std::string>& names);

/// Facts known before a bound is computed, and its time limit.
struct PeriodKnowledge {
  double at_least_ms = 0;                                     ///< a lower bound
  double known_ms = std::numeric_limits<double>::infinity();  ///< the period of a valid schedule
  const Schedule* known = nullptr;  ///< (optional) that schedule; its blocks form no cycle
  Deadline deadline = {};           ///< asked often
};

struct PeriodBoundResult {
  LowerBound bound;
  /// The reason why it is no closer: time, an absent solver, too many down-sets. Empty if the bound
  /// is complete.
  std::string remark = {};
};

/// Returns true if no period is shorter, but for rounding and the tolerance of solvers.
bool proves(const LowerBound& bound, double period_ms);

/// Returns a bound of at least `at_least_ms` and at most `known_ms`. Pure but for the deadline.
/// Without a solver it returns a remark instead of throwing.
PeriodBoundResult period_bound(PeriodBound which, const Graph& graph, const CostModel& costs,
                               const PeriodKnowledge& known);

}  // namespace hios::scheduler::pipeline
