#pragma once

#include <cstddef>
#include <optional>

#include "hios/evaluate/cost_model.h"
#include "hios/schedule/schedule.h"
#include "scheduler/algorithms/scheduler.h"

namespace hios::scheduler::split {

struct Closing {
  double bound_ms = 0;               ///< no schedule of one operator a stage takes less
  std::optional<Schedule> schedule;  ///< shorter than the known one, where one was found
};

/// Brings a bound and a latency together by searches through begun schedules (begun.h), each larger
/// than the one before: `rounds` of them, until time is up or nothing is between. Links do not
/// contend. `low_ms`: a bound that is known. `known_ms`: of a schedule that there is; more than it,
/// a bound never becomes. Nothing new where there are more than 2000 operators.
///
/// The same arguments give the same result where no time ends it.
Closing close_gap(const CostModel& costs, double low_ms, double known_ms, std::size_t rounds,
                  const Context& context);

inline constexpr std::size_t kMostRounds = 6;

}  // namespace hios::scheduler::split
