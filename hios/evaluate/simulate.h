#pragma once

#include "hios/evaluate/cost_model.h"
#include "hios/evaluate/timeline.h"
#include "hios/schedule/schedule.h"

namespace hios {

/// Returns the timeline by the precedence constraint of HIOS (Kundu and Shu, "HIOS: Hierarchical
/// Inter-Operator Scheduler for Real-Time Inference of DAG-Structured Deep Learning Models on
/// Multiple GPUs", section III-B). A stage starts when the previous stage on its device has ended
/// and every input is there (from another device: the end of the producer's stage plus the
/// transfer). It ends its cost later. A device begins launch_ms() after the inference. It needs
/// that time again to start on a tensor from another device, unless it is busy meanwhile, as work
/// is queued in advance. Linear in operators and edges. REQUIRES: validate() finds nothing (throws
/// std::logic_error on a cyclic wait).
///
/// Where operators read ranges of a tensor (CostModel::sends_ranges), a device receives one message
/// with all bytes from the first to the last that its operators read, and each of them waits for
/// all of it. A device that receives at its own cost copies when it first awaits a message.
///
/// Where the costs' platform has contention, a tensor waits until its link is free, or both its
/// ports: the sending port of its device and the receiving port of the other. It goes once to each
/// device that needs it, without a break, and takes the time of the slowest edge that it serves
/// there. A stage waits for its own edges only, counted from the start of the transfer.
///  - Where the schedule lists transfers, each link or port carries them in this order, even if a
///    later one is ready.
///  - Otherwise the transfer that is ready first goes first on each link or port, also before one
///  that
///    could start at once while the first still waits for its other port. Ties go by the producer's
///    position in the graph, then the destination's index. At equal times stages end before tensors
///    are sent.
/// Transfers only delay each other, so no stage starts earlier than without contention. Without
/// contention a list of transfers changes nothing.
///
/// Where the platform has a topology, transfers share its buses, and Schedule::weights count: by
/// the rules in hios/evaluate/cold/simulate_flows.h.
Timeline simulate(const Graph& graph, const Schedule& schedule, const CostModel& costs);

}  // namespace hios
