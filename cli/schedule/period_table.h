#pragma once

#include <string>
#include <vector>

#include "cli/flags/flags.h"
#include "hios/base/json/json_io.h"
#include "scheduler/compare/raise_period_bounds.h"
#include "scheduler/pipeline/period_bounds.h"

/// The lower bounds of the period, for --objective throughput.
namespace hios::cli {

/// Returns the flags --bounds and --bound-time-limit.
boost::program_options::options_description bound_flags();

/// Returns the names that --bounds takes, but for "all".
std::vector<std::string> bound_names();

struct RequestedBounds {
  std::vector<scheduler::pipeline::PeriodBound> which;
  double time_limit_s = 0;  ///< for all together
};

/// Reads those flags. Throws InputError: an unknown name, no time, or either flag where the
/// objective is not the throughput.
RequestedBounds read_bounds(const Flags& flags);

/// Returns a table for people; empty where there is only the simple bound, which every comparison
/// has.
std::string period_bounds_text(const std::vector<scheduler::PeriodRow>& rows);
Json period_bounds_json(const std::vector<scheduler::PeriodRow>& rows);

}  // namespace hios::cli
