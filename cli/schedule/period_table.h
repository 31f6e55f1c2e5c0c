#pragma once

#include <string>
#include <vector>

#include "cli/flags/flags.h"
#include "hios/base/json/json_io.h"
#include "scheduler/compare/raise_period_bounds.h"
#include "scheduler/pipeline/period_bounds.h"

/// The lower bounds of periods under --objective throughput.
namespace hios::cli {

/// --bounds and --bound-time-limit.
boost::program_options::options_description bound_flags();

struct AskedBounds {
  std::vector<scheduler::pipeline::PeriodBound> which;
  double time_limit_s = 0;  ///< of all together
};

/// Throws InputError: a name that is none, no time, or either flag where periods do not count.
AskedBounds read_bounds(const Flags& flags);

/// For people; empty where there is but the simple one, which every comparison has.
std::string period_bounds_text(const std::vector<scheduler::PeriodRow>& rows);
Json period_bounds_json(const std::vector<scheduler::PeriodRow>& rows);

}  // namespace hios::cli
