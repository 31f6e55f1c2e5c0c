#pragma once

#include <memory>

#include "mpi/accelerator.h"
#include "mpi/routes/route_table.h"
#include "mpi/transport.h"

namespace hios::mpi {

/// Makes the transport that carries a job's tensors. Messages go by these routes, in host or device
/// memory; everything else goes through `inner`, which outlives this object, as does the device.
/// Where the routes between all pairs pass messages through (a job without devices), channels are
/// those of `inner`.
///
/// Buffers of open_channel are device memory if `device` is given, unless Message::on_host. The
/// calls of a channel are in order with the device's queue Message::queue, usually Queue::kWork:
///  - start_send sends the bytes that all work queued so far produces;
///  - await_receive returns when work queued later will find the received bytes;
///  - await_send returns when work queued later may overwrite the buffer.
///
/// None waits for the device longer than a message needs, and none allocates. A message moves only
/// while both ranks call their channels (poll, an await, or finish, which pushes all that is left),
/// so await_send may need the receiver's calls. An iteration sends every message of the channel
/// once.
///
/// REQUIRES, where the table has devices:
///  - all ranks of `inner` call open_channel in the same order, also those without messages;
///  - before start_receives, the device has ended all work queued on the receiving buffers
///    (Accelerator::synchronize after finish());
///  - where a route exchanges offers, a buffer outlives the channels of the ranks that map it: put
///    a barrier between.
std::unique_ptr<Transport> make_tensor_transport(Transport& inner, Accelerator* device,
                                                 RouteTable routes);

}  // namespace hios::mpi
