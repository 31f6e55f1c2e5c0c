#pragma once

#include <cstdint>

#include "hios/evaluate/cost_model.h"
#include "hios/graph/graph.h"
#include "scheduler/deadline.h"
#include "scheduler/list/timeline.h"

namespace hios::scheduler {

/// The biased (1+1) evolutionary algorithm over mappings (Ghannane and Abdelfattah, "DiviML: A
/// Module-based Heuristic for Mapping Neural Networks onto Heterogeneous Platforms", section V-A;
/// Droste, Jansen and Wegener, "On the analysis of the (1+1) evolutionary algorithm"). From
/// fastest_mapping(): each of `iterations` children has each operator, or all of one label, on
/// another device with probability 1/n; one that memory holds and that takes no longer than its
/// parent, with operators in breadth_first_order(), takes its place. One operator a stage. The same
/// arguments give the same schedule. `timed_out`: it ended before its children did. Throws as
/// fastest_mapping().
TimedSchedule schedule_evolution(const Graph& graph, const CostModel& costs,
                                 std::int64_t iterations, std::uint64_t seed,
                                 const Deadline& deadline = {});

}  // namespace hios::scheduler
