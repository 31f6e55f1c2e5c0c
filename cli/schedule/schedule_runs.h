#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "cli/schedule/inputs/schedule_inputs.h"
#include "engine/host/clock.h"
#include "hios/schedule/schedule.h"
#include "scheduler/compare/compare.h"

/// From the program's inputs to a comparison, and from its rows to schedule files.
namespace hios::cli {

/// The settings of all algorithms; a schedule's file states the last two in `extra`.
struct Settings {
  Objective objective = Objective::kLatency;
  std::uint64_t seed = 0;
  double time_limit_s = 0;
  /// Since the program began: the seconds that reading took are taken off the limit.
  Stopwatch since_start = {};
};

/// Compares the algorithms (scheduler::compare()) until the time limit or a stop request, with a
/// progress line on a terminal.
std::vector<scheduler::Row> compare(const scheduler::Problem& problem,
                                    std::span<const scheduler::Request> requests,
                                    const Settings& settings);

/// Returns the file of a row's schedule. REQUIRES: the row has one.
ScheduleFile file_of(const scheduler::Row& row, const ScheduleInputs& inputs,
                     const Settings& settings);

}  // namespace hios::cli
