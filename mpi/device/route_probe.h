#pragma once

#include <string>

#include "mpi/device/device_transport.h"

namespace hios::mpi {

/// Of these many messages a pair, the tags belong to trials.
inline constexpr int kProbeTags = 64;

/// Two ranks exchange 4 KB by a path, there and back, and each looks at what came. Empty where it
/// came right, else why not, the same on all ranks. Collective: the other ranks look on. `device`
/// is this rank's. A trial that fails leaves no rank behind: it is given up after some seconds.
std::string probe_route(Transport& transport, Accelerator* device, Route path, Rank a, Rank b);

}  // namespace hios::mpi
