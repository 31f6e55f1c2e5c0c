#pragma once

#include <string>

#include "mpi/messages/handles.h"

namespace hios::mpi {

/// How bytes travel between the ranks of `communicator`, in words, the same on all:
/// "Open MPI 4.1.4, shared memory with CMA". `host` holds the ranks of this host. Collective.
std::string describe_path(MPI_Comm communicator, MPI_Comm host);

}  // namespace hios::mpi
