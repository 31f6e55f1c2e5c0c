#pragma once

#include <span>
#include <string>
#include <vector>

#include "engine/job/ranks/ranks.h"
#include "engine/job/run_inputs.h"
#include "engine/run/clocks/run_clocks.h"
#include "engine/run/plan/memory_estimate.h"
#include "engine/run/plan/plan.h"
#include "hios/report/report.h"

/// Facts of all ranks, gathered for reports.
namespace hios::job {

/// Gathers every rank's facts, by rank, on every rank. Collective.
std::vector<ReportRank> gather_ranks(mpi::Transport& transport, const RankBackend& mine,
                                     const RankPlan& plan);
/// Writes the memory that ranks hold, and that of their devices. REQUIRES: an entry of `held` for
/// each rank.
void note_memory(std::vector<ReportRank>& ranks, const std::vector<MemoryEstimate>& held,
                 std::span<const Device> devices);

/// Joins the ranks' timelines of one iteration, the same on every rank. Collective.
Timeline gather_timeline(mpi::Transport& transport, double latency_ms, const RankTimeline& mine);

}  // namespace hios::job
