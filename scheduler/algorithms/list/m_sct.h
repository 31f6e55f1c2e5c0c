#pragma once

#include <optional>
#include <vector>

#include "hios/evaluate/cost_model.h"
#include "hios/graph/graph.h"
#include "scheduler/deadline.h"
#include "scheduler/list/timeline.h"

namespace hios::scheduler {

/// Returns each operator's favourite child, by OpId: the consumer that should follow it on its
/// device, without a transfer. Each operator has at most one and is that of at most one. They
/// shorten the longest path on infinitely many devices, as the linear program and its rounding by
/// Hanen and Munier do ("An approximation algorithm for scheduling dependent tasks on m processors
/// with small communication delays", section 3). Here a rule does: along the longest path every
/// free pair is joined, repeatedly, until that path has no free pair. Then each operator takes the
/// free consumer with the longest path after it.
std::vector<std::optional<OpId>> favourite_children(const Graph& graph, const CostModel& costs,
                                                    const Deadline& deadline = {});

/// Schedules by m-SCT: by small communication times, with memory (Jeon et al., "Baechi: Fast Device
/// Placement of Machine Learning Graphs", section 3). It is earliest time first (EarliestStart),
/// except that a device waits for the favourite child of its last operator as long as their
/// transfer would take; only operators whose inputs are already there go first. One operator a
/// stage. The favourite children are those of favourite_children(), not a linear program's:
/// schedules may differ from the authors', and their guarantee does not hold. After the deadline,
/// and where labels and memory exclude all devices: as schedule_heft().
TimedSchedule schedule_m_sct(const Graph& graph, const CostModel& costs,
                             const Deadline& deadline = {});

}  // namespace hios::scheduler
