#pragma once

#include <string>

#include "mpi/accelerator.h"
#include "mpi/routes/route.h"

namespace hios::mpi {

/// Tries a route: two ranks exchange 4 KB there and back, and each checks the bytes that arrive.
/// Returns an empty text on success, else the reason of the failure, the same on all ranks.
/// Collective: the other ranks take part in the agreements. `device` is this rank's. A failing
/// probe blocks no rank: it is given up after some seconds.
std::string probe_route(Transport& transport, Accelerator* device, const Route& route, Rank a,
                        Rank b);

/// Returns the first tag of a pair that no probe uses (TagBook); a failed probe may have left
/// messages in flight.
int first_tag_after_probes();

}  // namespace hios::mpi
