#pragma once

#include <cstddef>
#include <vector>

#include "hios/evaluate/cost_model.h"
#include "hios/schedule/schedule.h"

/// Many inferences through one schedule, one behind the other (Archer, Fahrbach, Liu and Prabhu,
/// "Practical Performance Guarantees for Pipelined DNN Inference", Figure 1).
namespace hios {

/// What they take.
struct ManyInferences {
  std::vector<double> end_ms;  ///< when each ended, from the start of the first
  double period_ms = 0;        ///< from one end to the next, the mean over the later half of them
  double latency_ms = 0;       ///< from its first stage's start to its end, the mean over the same
};

/// Every device runs the stages of the first inference in order, then those of the second, and so
/// on, each as soon as its inputs are there. A tensor that travels has `in_flight` places on either
/// side, taken in turn. A device has places for an inference once it has ended the one `in_flight`
/// before, and all that it sent of that one has arrived: then it can receive, and begin. (So do the
/// ranks of a job.)
///
/// A device is busy besides with what IoCharge says of tensor_ms(): behind a stage for each of its
/// tensors that others read, before one for each tensor that it is the first of its device to read;
/// and with overflow before its first stage. The rest of transfer_ms() a tensor travels by itself.
/// So a device's time for an inference is BlockCost's, and with places enough the period is
/// Period's wherever blocks form no ring.
///
/// Links that carry one tensor at a time are not heeded. O(inferences · (operators + edges)).
/// REQUIRES: validate() finds nothing; inferences >= 1, in_flight >= 1.
ManyInferences simulate_many(const Graph& graph, const Schedule& schedule, const CostModel& costs,
                             std::size_t inferences, std::size_t in_flight);

/// The fewest places with which the period is within 1 % of that with as many as help at all; and
/// that period's run. Of very large graphs fewer inferences are run and fewer places tried, so that
/// it takes seconds. REQUIRES: validate() finds nothing.
struct InFlight {
  std::size_t places = 1;
  ManyInferences run;
};
InFlight least_in_flight(const Graph& graph, const Schedule& schedule, const CostModel& costs);

}  // namespace hios
