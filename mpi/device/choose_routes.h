#pragma once

#include <chrono>

#include "mpi/accelerator.h"
#include "mpi/routes/route_table.h"
#include "mpi/transport.h"

namespace hios::mpi {

/// The time for which a rank waits for the first message by a route.
inline constexpr std::chrono::milliseconds kRoutePatience{10'000};

/// Chooses the best route of every pair of ranks. Each candidate is tried first: 4 KB and 1 MB
/// travel there and back and must arrive intact, within `patience`. `device` is this rank's, null
/// if it computes in host memory. `forced` is the route for pairs of devices, the same on all
/// ranks; null: the best that works. Collective. Throws InputError, on all ranks, if a pair has no
/// route or cannot use the forced one.
RouteTable choose_routes(Transport& transport, Accelerator* device, const Route* forced = nullptr,
                         std::chrono::milliseconds patience = kRoutePatience);

}  // namespace hios::mpi
