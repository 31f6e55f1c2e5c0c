#pragma once

#include <string>
#include <vector>

#include "cli/flags/flags.h"
#include "cli/schedule/schedule_inputs.h"
#include "cli/schedule/schedule_runs.h"
#include "hios/base/json/json_io.h"
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

/// A bound that was asked for.
struct PeriodRow {
  std::string name;
  double ms = 0;  ///< 0: it found nothing closer than those before
  double seconds = 0;
  std::string remark;  ///< why it is no closer; or empty
};

/// Looks for each bound in turn, below the shortest period of blocks that form no cycle, until one
/// proves that, time is up or the user stops it. Puts the closest beside all such runs: what they
/// predict, and their outcome where a period is proven. Throws RunError where one is above a
/// period.
std::vector<PeriodRow> bound_periods(std::vector<ScheduleRun>& runs, ScheduleInputs& inputs,
                                     const AskedBounds& asked);

/// For people; empty where there is but the simple one, which every comparison has.
std::string period_bounds_text(const std::vector<PeriodRow>& rows);
Json period_bounds_json(const std::vector<PeriodRow>& rows);

}  // namespace hios::cli
