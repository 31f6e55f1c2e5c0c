#pragma once

#include "hios/evaluate/cost_model.h"
#include "hios/evaluate/timeline.h"
#include "hios/schedule/schedule.h"

namespace hios {

/// The timeline by the precedence constraint of HIOS (Kundu and Shu, "HIOS: Hierarchical Inter-
/// Operator Scheduler for Real-Time Inference of DAG-Structured Deep Learning Models on Multiple
/// GPUs", section III-B): a stage starts when its device has ended the stage before and every input
/// is there (a producer on another device: its stage's end plus the transfer); it ends its cost
/// later. Linear in operators and edges. REQUIRES: validate() finds nothing (throws
/// std::logic_error on a cyclic wait).
Timeline simulate(const Graph& graph, const Schedule& schedule, const CostModel& costs);

}  // namespace hios
