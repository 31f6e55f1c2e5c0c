#pragma once

#include "mpi/accelerator.h"
#include "mpi/routes/route_table.h"
#include "mpi/transport.h"

namespace hios::mpi {

/// The best route of every pair of ranks: each is tried before it is taken, by 4 KB there and back,
/// which must come back right. `device` is this rank's, null where it computes in host memory.
/// `forced` is for pairs of devices, the same on all ranks; null: the best that works. Collective.
/// Throws InputError, on all ranks, where a pair has no route, or not the forced one.
RouteTable choose_routes(Transport& transport, Accelerator* device, const Route* forced = nullptr);

}  // namespace hios::mpi
