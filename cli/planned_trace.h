#pragma once

#include "hios/evaluate/cost_model.h"
#include "hios/evaluate/simulate.h"
#include "hios/report/trace.h"
#include "hios/schedule/schedule.h"

namespace hios::cli {

/// "rank 1 stream 0": the lane of a trace.
std::string lane_name(std::size_t rank, std::size_t stream);

/// Where an operator runs, for the ends of arrows.
struct Place {
  DeviceId device;
  std::size_t stage = 0;
  std::size_t stream = 0;
};
/// By OpId.
std::vector<Place> places(const Graph& graph, const Schedule& schedule);

/// Draws a timeline into a trace: a slice an operator, on the lane of its rank and stream, within
/// its stage by the operators' own times, scaled so that the longest group ends with the stage; an
/// arrow a message.
void draw_planned(const Graph& graph, const Schedule& schedule, const Timeline& timeline,
                  const CostModel& costs, Trace& trace);

/// The plan of a schedule on its own.
Trace planned_trace(const Graph& graph, const ScheduleFile& file, const CostModel& costs);

}  // namespace hios::cli
