#pragma once

#include <cstddef>
#include <vector>

#include "hios/evaluate/cost_model.h"
#include "hios/schedule/schedule.h"

/// Many inferences through one schedule, one after the other (Archer, Fahrbach, Liu and Prabhu,
/// "Practical Performance Guarantees for Pipelined DNN Inference", Figure 1).
namespace hios {

/// The times of many inferences.
struct ManyInferences {
  std::vector<double> end_ms;  ///< end of each, from the start of the first
  double period_ms = 0;        ///< from one end to the next, the mean over the later half
  double latency_ms =
      0;  ///< from an inference's first start to its end, the mean over the later half
};

/// Simulates many inferences. Every device runs the stages of the first inference in order, then
/// those of the second, and so on, each as soon as its inputs are there. A tensor that travels has
/// `in_flight` buffers on either side, used in turn. A device may receive and begin an inference
/// once it has ended the one `in_flight` before and all tensors that it sent of that one have
/// arrived. (The ranks of a job do the same.)
///
/// A device is also busy with its share (IoCharge) of tensor_ms(): after a stage for each of its
/// tensors that other devices read, before a stage for each tensor that no earlier stage of its
/// device reads; and with overflow before its first stage. The rest of transfer_ms() occupies no
/// device. So a device's time for an inference is that of BlockCost, and with enough buffers the
/// period is that of Period wherever blocks form no cycle.
///
/// Contention of links is ignored. O(inferences · (operators + edges)). REQUIRES: validate() finds
/// nothing; inferences >= 1, in_flight >= 1.
ManyInferences simulate_many(const Graph& graph, const Schedule& schedule, const CostModel& costs,
                             std::size_t inferences, std::size_t in_flight);

/// A number of buffers a tensor, and the simulation with it.
struct InFlight {
  std::size_t in_flight = 1;
  ManyInferences run;
};
/// Returns the fewest buffers whose period is within 1 % of the shortest. For very large graphs it
/// simulates fewer inferences and tries fewer buffers, so that it takes seconds. REQUIRES:
/// validate() finds nothing.
InFlight least_in_flight(const Graph& graph, const Schedule& schedule, const CostModel& costs);

}  // namespace hios
