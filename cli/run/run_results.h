#pragma once

#include <string>
#include <vector>

#include "cli/run/run_flags.h"
#include "engine/job/run_job.h"
#include "hios/report/report.h"
#include "hios/report/trace.h"

/// Results of hios-run: tables for people, a report for scripts.
namespace hios::cli {

/// Prints the network and the ranks that are about to run.
void print_setup(const RunCommand& command, const job::RunSetup& setup);

/// Prints every rank's steps.
void print_steps(const std::vector<std::string>& steps);

/// Returns the job's report with the program's arguments, versions and percentiles.
Report full_report(const Flags& flags, const RunCommand& command, const job::RunSetup& setup,
                   const job::RunResults& results);

/// Prints tables and failures; returns the exit status: 1 where verification, a
/// comparison with a reference or --max-error failed.
int print_results(const RunCommand& command, const Report& report, const job::RunSetup& setup,
                  const job::RunResults& results);

/// Returns planned and measured lanes, one per rank and stream, with an arrow per message. The
/// planned lanes need a profile, whose costs divide a stage among its operators.
Trace run_trace(const job::RunInputs& inputs, const job::RunResults& results,
                const CostModel* costs);

}  // namespace hios::cli
