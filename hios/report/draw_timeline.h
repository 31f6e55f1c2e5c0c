#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "hios/evaluate/cost_model.h"
#include "hios/evaluate/timeline.h"
#include "hios/report/trace.h"
#include "hios/schedule/schedule.h"

namespace hios {

/// Returns the name of a lane: "rank 1 stream 0".
std::string lane_name(std::size_t rank, std::size_t stream);
/// Returns the name of a lane of loads: "loads 0".
std::string loads_lane_name(std::size_t lane);

/// Draws a timeline of a schedule, planned or measured, into a trace: a lane for each rank and
/// stream, an arrow for each transfer to the first stage of its destination that needs it. With
/// `costs`, a slice is an operator: those of a group share their stage's time by their own times,
/// scaled so that the longest group ends with the stage. Without, the ends of operators are not
/// known: a slice is a whole group, and a wait for inputs is a slice, too. Where the costs'
/// platform has contention, a lane for each pair of ranks shows its transfers. Below the ranks is a
/// lane for each lane of loads: "loads 0". A slice there is a load ("load conv_3"), with its ends
/// and bytes as arguments, or a wait for its source or for room.
/// `stores`: by StoreId. REQUIRES: all from which the schedule loads.
void draw_timeline(const std::string& process, const Graph& graph, const Schedule& schedule,
                   const Timeline& timeline, const CostModel* costs, std::span<const Store> stores,
                   Trace& trace);

/// Returns a trace of a schedule's simulation alone.
Trace planned_trace(const Graph& graph, const Schedule& schedule, const CostModel& costs);

}  // namespace hios
