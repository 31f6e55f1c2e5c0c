#pragma once

#include <optional>
#include <vector>

#include "hios/evaluate/cost_model.h"
#include "hios/graph/graph.h"
#include "scheduler/deadline.h"
#include "scheduler/list/timeline.h"

namespace hios::scheduler {

/// Each operator's favourite child, by OpId: the consumer that should follow it on its device, so
/// that their tensor need not travel. Each has one at most, and is that of one at most. Chosen to
/// make the longest path short where devices are without number: what Hanen and Munier, "An
/// approximation algorithm for scheduling dependent tasks on m processors with small communication
/// delays", section 3, ask of a linear program and its rounding. Here, without one: along the
/// longest path every pair that is still free becomes one, and again, until the longest path has no
/// free pair; then each operator takes the free consumer with the longest path behind it.
std::vector<std::optional<OpId>> favourite_children(const Graph& graph, const CostModel& costs,
                                                    const Deadline& deadline = {});

/// m-SCT: scheduling by small communication times, with memory (Jeon et al., "Baechi: Fast Device
/// Placement of Machine Learning Graphs", section 3): earliest time first (EarliestStart), but for
/// as long as their tensor would travel, a device waits for the favourite child of what it ran
/// last; only operators whose inputs are there already go before. One operator a stage. The
/// favourite children are favourite_children()'s, not a linear program's: schedules may differ from
/// the authors', and their guarantee is not claimed. Out of time, and where labels and memory leave
/// no device: as schedule_heft().
TimedSchedule schedule_m_sct(const Graph& graph, const CostModel& costs,
                             const Deadline& deadline = {});

}  // namespace hios::scheduler
