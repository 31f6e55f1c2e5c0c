#pragma once

#include <cstddef>
#include <string>

#include "hios/evaluate/cost_model.h"
#include "hios/evaluate/timeline.h"
#include "hios/report/trace.h"
#include "hios/schedule/schedule.h"

namespace hios {

/// "rank 1 stream 0": the lane of a trace.
std::string lane_name(std::size_t rank, std::size_t stream);

/// Draws a timeline of a schedule, planned or measured, into a trace: a lane for each rank and
/// stream, an arrow for each transfer to the first stage of its destination that needs it. With
/// `costs` a slice is an operator: those of a group share their stage's time by their own times,
/// scaled so that the longest group ends with the stage. Without, nobody knows when an operator of
/// a group ended: a slice is a whole group, and a wait for inputs is a slice as well. Where the
/// costs' platform has contention, a lane for each pair of ranks shows when it carries what.
void draw_timeline(const std::string& process, const Graph& graph, const Schedule& schedule,
                   const Timeline& timeline, const CostModel* costs, Trace& trace);

/// The plan of a schedule on its own.
Trace planned_trace(const Graph& graph, const Schedule& schedule, const CostModel& costs);

}  // namespace hios
