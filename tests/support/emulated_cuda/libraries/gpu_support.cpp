// The calls by which an MPI says that it takes device memory, in place of the library's own: the
// emulated GPU's memory is the host's, which every MPI takes.
#include "support/emulated_cuda/runtime/settings.h"

extern "C" {
int MPIX_Query_cuda_support();
int MPIX_GPU_query_support(int kind, int* supported);
}

int MPIX_Query_cuda_support() { return hios::cuda_emulation::settings().cuda_aware ? 1 : 0; }

int MPIX_GPU_query_support(int, int* supported) {
  *supported = MPIX_Query_cuda_support();
  return 0;
}
