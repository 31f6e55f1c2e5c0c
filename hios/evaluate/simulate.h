#pragma once

#include "hios/evaluate/cost_model.h"
#include "hios/evaluate/timeline.h"
#include "hios/schedule/schedule.h"

namespace hios {

/// The timeline by the precedence constraint of HIOS (Kundu and Shu, "HIOS: Hierarchical Inter-
/// Operator Scheduler for Real-Time Inference of DAG-Structured Deep Learning Models on Multiple
/// GPUs", section III-B): a stage starts when its device has ended the stage before and every input
/// is there (a producer on another device: its stage's end plus the transfer); it ends its cost
/// later. A device begins launch_ms() after the inference does, and needs as long once more to
/// start by a tensor from elsewhere, unless it is busy meanwhile: it is told ahead what comes next.
/// Linear in operators and edges. REQUIRES: validate() finds nothing (throws
/// std::logic_error on a cyclic wait).
///
/// Where the costs' platform has contention, a tensor waits until its link is free, or both its
/// ports are: that on which its device sends and that on which the other receives. It goes once to
/// each device that needs it, whole and without a break, and takes the time of the slowest edge
/// that it serves there; a stage waits for its own edges only, counted from when the tensor left.
///  - Where the schedule lists transfers, each link or port takes them in this order, whatever is
///    ready.
///  - Else whichever is ready first goes first, on each link or port: also before one that could go
///    at once, where its other port is taken. Ties go by the producer's place in the graph, then
///    the destination's index; at one moment stages end before tensors take their turn.
/// Transfers of any length only wait for each other, so no stage starts earlier than without
/// contention. Without contention a list of transfers changes nothing.
Timeline simulate(const Graph& graph, const Schedule& schedule, const CostModel& costs);

}  // namespace hios
