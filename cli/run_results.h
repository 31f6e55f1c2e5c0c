#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/run_inputs.h"
#include "cli/run_verify.h"
#include "engine/executor.h"
#include "engine/plan.h"

/// What hios-run says: to a person as tables, to scripts as a report, to Perfetto as a trace.
namespace hios::cli {

/// One iteration with its stages' times on this rank.
struct RecordedRun {
  double latency_ms = 0;
  double overhead_ms = 0;  ///< of the executor, outside kernels and waits; the maximum over ranks
  std::vector<StageClock> clocks;
};

/// Where a rank runs and what it holds.
struct RankFacts {
  std::string host;
  std::vector<int> cores;  ///< empty: not pinned
  int threads = 1;
  Json backend;
  Bytes arena_bytes = 0;
  Bytes all_tensors_bytes = 0;
  std::size_t operators = 0;
  std::size_t stages = 0;
  Bytes sent_bytes = 0;  ///< an iteration
};

struct RunResults {
  std::vector<double> iterations_ms;
  RecordedRun recorded;
  std::optional<Timeline> predicted;  ///< with a profile
  std::optional<Verified> verified;
};

/// Every rank's facts, by rank, on every rank.
std::vector<RankFacts> gather_facts(mpi::Transport& transport, const RankBackend& mine, const RankPlan& plan);

/// Rank 0 prints what is about to run, and where.
void print_setup(const RunJob& job, const mpi::Transport& transport, const std::vector<RankFacts>& ranks);

/// Every rank's steps, printed by rank 0. Collective.
void print_dry_run(const RunJob& job, mpi::Transport& transport, const RankPlan& plan);

/// Prints the table, writes report, CSV and trace, and returns the exit status: 1 where verification
/// or --max-error failed. Collective; rank 0 writes.
int finish(const Flags& flags, const RunJob& job, mpi::Transport& transport,
           const std::vector<RankFacts>& ranks, const RunResults& results, const CostModel* costs);

}  // namespace hios::cli
