#pragma once

#include <span>
#include <string>
#include <vector>

#include "engine/job/ranks/ranks.h"
#include "engine/job/run_inputs.h"
#include "engine/run/memory_estimate.h"
#include "engine/run/plan.h"
#include "engine/run/run_clocks.h"
#include "hios/report/report.h"

/// What ranks know of themselves, brought together for reports.
namespace hios::job {

/// Every rank's facts, by rank, on every rank. Collective.
std::vector<ReportRank> gather_ranks(mpi::Transport& transport, const RankBackend& mine,
                                     const RankPlan& plan);
/// Notes what the ranks hold, and what their devices have. REQUIRES: one of each a rank.
void note_memory(std::vector<ReportRank>& ranks, const std::vector<MemoryEstimate>& held,
                 std::span<const Device> devices);

/// One iteration as a timeline, the same on every rank, from each rank's own part. Collective.
Timeline gather_timeline(mpi::Transport& transport, double latency_ms, const RankTimeline& mine);

}  // namespace hios::job
