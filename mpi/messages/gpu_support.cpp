// Two calls, of which a library may have one, both or none: that of Open MPI, which MPICH and
// MVAPICH also have, and that of MPICH and of Cray's MPI. The configuration of the build looks for
// them. Test: tests/mpi/messages/gpu_support_test.cpp, with a fake MPI.
#include "mpi/messages/gpu_support.h"

#include <mpi.h>
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

namespace hios::mpi {

bool mpi_says_cuda_aware() {
#ifdef HIOS_MPIX_GPU_QUERY
  int supported = 0;
  if (MPIX_GPU_query_support(MPIX_GPU_SUPPORT_CUDA, &supported) == MPI_SUCCESS && supported != 0) {
    return true;
  }
#endif
#ifdef HIOS_MPIX_CUDA_QUERY
  if (MPIX_Query_cuda_support() == 1) return true;
#endif
  return false;
}

}  // namespace hios::mpi
