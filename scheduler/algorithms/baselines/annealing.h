#pragma once

#include <cstdint>

#include "hios/evaluate/cost_model.h"
#include "hios/graph/graph.h"
#include "scheduler/deadline.h"
#include "scheduler/list/timeline.h"

namespace hios::scheduler {

/// Searches mappings by simulated annealing and returns the shortest one's schedule, with operators
/// in breadth_first_order() (Ghannane and Abdelfattah, "DiviML: A Module-based Heuristic for
/// Mapping Neural Networks onto Heterogeneous Platforms", section V-A; Kirkpatrick, Gelatt and
/// Vecchi, "Optimization by Simulated Annealing"). It starts from random devices or, where memory
/// does not hold those, from fastest_mapping(). Each of `iterations` steps gives one operator, or
/// all of one label, another device that has room. One operator a stage. The same arguments give
/// the same schedule. `timed_out`: it ended before its last step. Throws as fastest_mapping().
TimedSchedule schedule_annealing(const Graph& graph, const CostModel& costs,
                                 std::int64_t iterations, std::uint64_t seed,
                                 const Deadline& deadline = {});

}  // namespace hios::scheduler
