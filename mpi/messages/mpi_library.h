#pragma once

#include <string>

#include "mpi/messages/handles.h"

namespace hios::mpi {

/// Describes the MPI library and how bytes travel between the ranks of `communicator`, for people,
/// the same text on all: "Open MPI 4.1.4, shared memory with CMA". `host` holds the ranks of this
/// host. Collective.
std::string describe_mpi_library(MPI_Comm communicator, MPI_Comm host);

/// Returns true if the library calls itself CUDA-aware (Transport::claims_device_memory).
bool mpi_says_cuda_aware();

}  // namespace hios::mpi
