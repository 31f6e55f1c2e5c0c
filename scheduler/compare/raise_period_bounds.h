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
  double ms = 0;       ///< 0: it is no larger than the bounds before it
  double seconds = 0;  ///< by the deadline's clock
  std::string remark;  ///< the reason why it is no larger, or empty
};

/// Looks for each bound in turn, below the shortest period of blocks that form no cycle, until one
/// proves that period optimal or the deadline expires; each bound has an equal share of the seconds
/// that those before it have left. Makes the largest bound that of all rows with such blocks, and
/// their outcome optimal where it proves the period of a schedule for throughput. Throws RunError
/// where a bound is above a period. Empty where no row has such blocks.
std::vector<PeriodRow> raise_period_bounds(std::vector<Row>& rows, const Problem& problem,
                                           std::span<const pipeline::PeriodBound> bounds,
                                           const Deadline& deadline);

}  // namespace hios::scheduler
