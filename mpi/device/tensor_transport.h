#pragma once

#include <memory>

#include "mpi/accelerator.h"
#include "mpi/routes/route_table.h"
#include "mpi/transport.h"

namespace hios::mpi {

/// The transport that carries a job's tensors: messages by these routes, wherever they live; all
/// else is `inner`'s, which outlives this as does the device. Where every pair of ranks is served
/// by a route that passes messages through (a job without devices), channels are `inner`'s own.
///
/// Buffers of open_channel are device memory where `device` is given. A channel's calls are in
/// order with the device's Queue::kWork: start_send sends what the work queued so far has produced,
/// await_receive returns when work queued later will find the bytes, await_send when work queued
/// later may overwrite them; none waits for the device longer than a message needs. No call
/// allocates. A message moves only while both ranks call their channels: poll, an await or finish
/// (which pushes all that is left), so await_send may need the receiver's calls. An iteration sends
/// every message of the channel once.
/// REQUIRES, where the table has devices: open_channel is called by all ranks of `inner`, in the
/// same order, also by those without messages; before start_receives the device has ended what was
/// queued on the buffers that receive (Accelerator::synchronize after finish()); and where a route
/// exchanges offers, a buffer lives until the channels of the ranks that map it have ended: let a
/// barrier stand between.
std::unique_ptr<Transport> make_tensor_transport(Transport& inner, Accelerator* device,
                                                 RouteTable routes);

}  // namespace hios::mpi
