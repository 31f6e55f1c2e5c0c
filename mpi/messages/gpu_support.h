#pragma once

namespace hios::mpi {

/// Returns true if the MPI library calls itself CUDA-aware (Transport::claims_device_memory), by
/// any of the calls that this build found in it. REQUIRES: MPI has been initialised.
bool mpi_says_cuda_aware();

}  // namespace hios::mpi
