#pragma once

#include "hios/evaluate/cost_model.h"
#include "hios/evaluate/timeline.h"
#include "hios/schedule/schedule.h"

namespace hios {

/// Returns simulate() on a platform with a topology. Loads, messages between devices and reads in
/// place are flows (hios/evaluate/cold/flows.h), which share the buses of their routes.
///  - A message is a flow of the tensor's edge to that device with the longest CostModel::link_ms()
///    (of equal ones the largest, then the first), over the route between the two, from the end of
///    the producer's stage. Where that edge has a `transfer_ms` of its own, it takes that time and
///    uses no bus. All its consumers there wait for its end. Where receivers copy
///    (CostModel::charges_receivers()), the first stage that reads it makes the copy, as in
///    simulate(); it takes the receiver's share of the message's time alone. The device counts as
///    computing meanwhile, and loads do not slow the copy.
///  - A lane starts its next load once the one before it has ended, its source holds the
///    parameters, and its device has room: what it holds and receives, with the outputs of all its
///    operators, stays within memory_bytes. Of loads that would fit, the first by lane goes first;
///    one that does not fit delays no other lane. A device's eviction takes effect when its stage
///    has ended. A copy to another device that is under way then goes on.
///  - A stage waits for its parameters, too: those that it does not read in place must be there.
///    With load_first it waits for all lanes.
///  - An operator read in place takes as long as a flow of in_place_bytes, whose own limit is such
///    that it takes in_place_ms when undisturbed. Where the route alone is slower, it takes longer.
///    Without bytes it takes the longer of in_place_ms and the route's latency. One without
///    parameters runs as any other.
///  - The first load of a lane waits its route's start_ms in addition.
///  - While loads to a device are under way, from their start to their end, its stages take so many
///    times as long: 1 and what each load's Route::slowdown is above 1. While a stage runs there,
///    the limit of each such load is its route's gb_per_s, divided by 1 and the sum of what these
///    loads' load_slowdown is above 1: threads of one core share it. A read in place is slowed by
///    its flow's limit, so its latency is not.
///  - A device begins after CostModel::launch_ms(), and needs that time again to continue with a
///    tensor or parameters that it waited for, as in simulate().
/// At equal times flows end before stages, stages before new flows start; flows then start by lane,
/// messages by producer and destination after them. Times that differ by rounding are equal
/// (same_time_ms()). A flow may end a little early, by that or by the rest of a byte, but no
/// message takes less than its time alone, and no read in place less than in_place_ms. So bounds
/// for resident parameters are bounds here. REQUIRES: a topology, and validate() finds nothing
/// (throws std::logic_error on a deadlock, with the load or stage that waits).
///
/// Linear in operators, edges, lanes times events, and the changes of rates.
Timeline simulate_flows(const Graph& graph, const Schedule& schedule, const CostModel& costs);

}  // namespace hios
