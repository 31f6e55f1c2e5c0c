#pragma once

#include <string>
#include <vector>

#include "cli/run/run_flags.h"
#include "engine/job/run_job.h"
#include "hios/report/report.h"
#include "hios/report/trace.h"

/// What hios-run says: to a person as tables, to scripts as a report.
namespace hios::cli {

/// What is about to run, and where.
void print_setup(const RunCommand& command, const job::RunSetup& setup);

/// Every rank's steps.
void print_steps(const std::vector<std::string>& steps);

/// The job's report with what the program adds: its arguments, versions and percentiles.
Report full_report(const Flags& flags, const RunCommand& command, const job::RunSetup& setup,
                   const job::RunResults& results);

/// Prints the table and what failed; returns the exit status: 1 where verification or --max-error
/// failed.
int print_results(const RunCommand& command, const Report& report, const job::RunSetup& setup,
                  const job::RunResults& results);

/// Planned and measured lanes side by side, a lane a rank and stream, an arrow a message. The
/// planned ones need a profile, whose costs divide a stage among its operators.
Trace run_trace(const job::RunInputs& inputs, const job::RunResults& results,
                const CostModel* costs);

}  // namespace hios::cli
