#pragma once

#include <string>

#include "mpi/messages/handles.h"

namespace hios::mpi {

/// Describes the MPI library and how bytes travel between the ranks of `communicator`, for people,
/// the same text on all: "Open MPI 4.1.4, shared memory with CMA". `host` holds the ranks of this
/// host. Collective.
std::string describe_mpi_library(MPI_Comm communicator, MPI_Comm host);

}  // namespace hios::mpi
