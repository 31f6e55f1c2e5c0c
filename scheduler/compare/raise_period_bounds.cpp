#include "scheduler/compare/raise_period_bounds.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "hios/base/error.h"
#include "hios/evaluate/blocks.h"
#include "scheduler/structures/numbers.h"

namespace hios::scheduler {
namespace {

using pipeline::PeriodBound;
using pipeline::proves;

/// Returns true if the row has blocks that form no cycle: only those have bounds.
bool is_bounded(const Row& row) {
  return !row.refusal && row.graph && row.many && row.many->bound != "none";
}

/// The shortest period and the largest bound of all rows.
struct Known {
  const Row* shortest = nullptr;
  double period_ms = std::numeric_limits<double>::infinity();
  LowerBound bound;
  double simple_ms = 0;

  Known(const std::vector<Row>& rows, const Problem& problem) {
    for (const Row& row : rows) {
      if (!is_bounded(row)) continue;
      if (row.many->lower_bound_ms > bound.ms) bound = {row.many->lower_bound_ms, row.many->bound};
      const double ms = period_of(*row.graph, row.schedule, *row.costs).ms();
      if (ms >= period_ms) continue;
      period_ms = ms;
      shortest = &row;
    }
    // Divisible problems have no graph, and no bounded row either.
    if (shortest != nullptr)
      simple_ms = pipeline::simple_period_bound(problem.graph(), problem.costs()).ms;
  }
  bool proven() const { return proves(bound, period_ms); }
};

/// Sets the row's bound where this one is larger.
void raise(const LowerBound& bound, Row& row) {
  if (!is_bounded(row) || row.many->lower_bound_ms >= bound.ms) return;
  const double period_ms = row.many->objective_ms();
  const double ms =
      bound.ms <= period_ms * (1 + kRounding) ? std::min(bound.ms, period_ms) : bound.ms;
  if (ms > period_ms) {
    throw RunError("the bound of periods " + quote(bound.name) + " is above the period of " +
                   row.algorithm);
  }
  row.many->lower_bound_ms = ms;
  row.many->bound = bound.name;
  if (row.objective != Objective::kThroughput) return;
  row.predicted = *row.many;
  if (proves(bound, period_ms)) row.outcome = Outcome::kOptimal;
}

/// Looks for one bound alone. Its row has no value where it ended before it was above the simple
/// bound.
PeriodRow look_for(PeriodBound which, const Known& known, const Problem& problem,
                   const Deadline& deadline, LowerBound& found) {
  const double start_s = deadline.now_s();
  pipeline::PeriodKnowledge knowledge;
  knowledge.known_ms = known.period_ms;
  knowledge.known = &known.shortest->schedule;
  knowledge.deadline = deadline;
  pipeline::PeriodBoundResult result =
      period_bound(which, problem.graph(), problem.costs(), knowledge);
  found = std::move(result.bound);
  const bool in_vain = !result.remark.empty() && found.ms <= known.simple_ms;
  return {.name = found.name,
          .ms = in_vain ? 0 : found.ms,
          .seconds = deadline.now_s() - start_s,
          .remark = std::move(result.remark)};
}

/// Returns the row of a bound that need not or cannot be looked for, or nothing.
std::optional<PeriodRow> known_before(PeriodBound which, const Known& known, bool expired) {
  const std::string name(to_string(which));
  if (which == PeriodBound::kSimple || (!known.proven() && !expired)) return std::nullopt;
  if (!known.proven()) return PeriodRow{.name = name, .remark = "no time was left"};
  if (known.bound.name != name) return PeriodRow{.name = name, .remark = "not needed any more"};
  return PeriodRow{.name = name, .ms = known.bound.ms, .remark = "proved with the schedule"};
}

}  // namespace

std::vector<PeriodRow> raise_period_bounds(std::vector<Row>& rows, const Problem& problem,
                                           std::span<const PeriodBound> bounds,
                                           const Deadline& deadline) {
  std::vector<PeriodRow> made;
  Known known(rows, problem);
  if (known.shortest == nullptr) return made;
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    const PeriodBound which = bounds[i];
    const Deadline own = deadline.share(1 / static_cast<double>(bounds.size() - i));
    LowerBound found;
    std::optional<PeriodRow> row = known_before(which, known, own.expired());
    made.push_back(row ? *std::move(row) : look_for(which, known, problem, own, found));
    if (found.ms > known.bound.ms) known.bound = std::move(found);
    made.back().largest_ms = known.bound.ms;
  }
  for (Row& row : rows) raise(known.bound, row);
  return made;
}

}  // namespace hios::scheduler
