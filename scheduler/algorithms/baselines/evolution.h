#pragma once

#include <cstdint>

#include "hios/evaluate/cost_model.h"
#include "hios/graph/graph.h"
#include "scheduler/deadline.h"
#include "scheduler/list/timeline.h"

namespace hios::scheduler {

/// Searches mappings by the biased (1+1) evolutionary algorithm (Ghannane and Abdelfattah, "DiviML:
/// A Module-based Heuristic for Mapping Neural Networks onto Heterogeneous Platforms", section V-A;
/// Droste, Jansen and Wegener, "On the analysis of the (1+1) evolutionary algorithm"). It starts
/// from fastest_mapping(). In each of `iterations` children, each operator, or all of one label,
/// moves to another device with probability 1/n. A child replaces its parent if memory holds it and
/// it takes no longer, with operators in breadth_first_order(). One operator a stage. The same
/// arguments give the same schedule. `timed_out`: it ended before its last child. Throws as
/// fastest_mapping().
TimedSchedule schedule_evolution(const Graph& graph, const CostModel& costs,
                                 std::int64_t iterations, std::uint64_t seed,
                                 const Deadline& deadline = {});

}  // namespace hios::scheduler
