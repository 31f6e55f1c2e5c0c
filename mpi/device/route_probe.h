#pragma once

#include <string>

#include "mpi/accelerator.h"
#include "mpi/routes/route.h"

namespace hios::mpi {

/// Two ranks exchange 4 KB by a route, there and back, and each looks at what came. Empty where it
/// came right, else why not, the same on all ranks. Collective: the other ranks take part in what
/// all must agree on. `device` is this rank's. A probe that fails leaves no rank behind: it is
/// given up after some seconds.
std::string probe_route(Transport& transport, Accelerator* device, const Route& route, Rank a,
                        Rank b);

/// The first tag of a pair that no probe takes (TagBook): a probe that failed may have left
/// messages behind.
int first_tag_after_probes();

}  // namespace hios::mpi
