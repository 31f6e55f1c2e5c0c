#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/run/run_inputs.h"
#include "cli/run/run_verify.h"
#include "engine/run/executor.h"
#include "engine/run/plan.h"
#include "hios/report/report.h"

/// What hios-run says: to a person as tables, to scripts as a report.
namespace hios::cli {

/// One iteration with the times of every rank's stages.
struct RecordedRun {
  double latency_ms = 0;
  double overhead_ms = 0;  ///< of the executor, outside kernels and waits; the maximum over ranks
  std::vector<std::vector<StageClock>> clocks;  ///< by rank, by stage
};

struct RunResults {
  std::vector<double> iterations_ms;
  RecordedRun recorded;
  std::optional<Timeline> predicted;  ///< with a profile
  std::optional<Verified> verified;
  std::optional<Json> transfer_paths;  ///< where ranks have devices
};

/// Every rank's facts, by rank, on every rank. Collective.
std::vector<ReportRank> gather_ranks(mpi::Transport& transport, const RankBackend& mine,
                                     const RankPlan& plan);

/// Every rank's stage clocks, by rank, on every rank. Collective.
std::vector<std::vector<StageClock>> gather_clocks(mpi::Transport& transport,
                                                   const std::vector<StageClock>& mine);

/// The stage clocks as a timeline. A message is taken to leave with the end of its producer's stage
/// and to arrive with the start of the stage that awaits it.
Timeline measured_timeline(const RunJob& job, const RecordedRun& recorded);

/// What is about to run, and where; `paths` is the table of transfer paths, if there is one.
void print_setup(const RunJob& job, const mpi::Transport& transport,
                 const std::vector<ReportRank>& ranks, const std::string& paths);

/// Every rank's steps, printed by rank 0. Collective.
void print_dry_run(const RunJob& job, mpi::Transport& transport, const RankPlan& plan);

/// The latency that the run is judged by: the profile's, else the schedule's own; empty where
/// neither says one.
std::optional<double> predicted_ms(const RunJob& job, const RunResults& results);

Report make_report(const Flags& flags, const RunJob& job, const mpi::Transport& transport,
                   const std::vector<ReportRank>& ranks, const RunResults& results);

/// Prints the table and what failed; returns the exit status: 1 where verification or --max-error
/// failed.
int print_results(const RunJob& job, const Report& report, const RunResults& results);

}  // namespace hios::cli
