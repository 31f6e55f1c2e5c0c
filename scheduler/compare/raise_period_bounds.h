#pragma once

#include <span>
#include <string>
#include <vector>

#include "scheduler/compare/row.h"
#include "scheduler/deadline.h"
#include "scheduler/pipeline/period_bounds.h"
#include "scheduler/problem.h"

namespace hios::scheduler {

/// A bound of the period that was looked for.
struct PeriodRow {
  std::string name;
  double ms = 0;  ///< that bound alone; 0: it ended before it was above the simple bound
  double largest_ms =
      0;               ///< the largest of this bound, those before it and those of the schedulers
  double seconds = 0;  ///< by the deadline's clock
  std::string remark;  ///< the reason why it proves no more, or empty
};

/// Looks for each bound in turn, below the shortest period of blocks that form no cycle, until one
/// proves that period optimal or the deadline expires; each bound has an equal share of the seconds
/// that those before it have left. Each is computed alone, from the simple bound and that period:
/// what others prove does not raise it. Makes the largest bound that of all rows with such blocks,
/// and their outcome optimal where it proves the period of a schedule for throughput. Throws
/// RunError where a bound is above a period. Empty where no row has such blocks.
std::vector<PeriodRow> raise_period_bounds(std::vector<Row>& rows, const Problem& problem,
                                           std::span<const pipeline::PeriodBound> bounds,
                                           const Deadline& deadline);

}  // namespace hios::scheduler
