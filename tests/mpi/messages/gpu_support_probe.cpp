// A program with a fake MPI. Its arguments are the answers of MPIX_GPU_query_support (its status
// and its value) and of MPIX_Query_cuda_support. Its exit status is 0 if the MPI calls itself
// CUDA-aware.
#include <mpi.h>

#include <cstdlib>

#include "mpi/messages/gpu_support.h"

namespace {

int status = 0, value = 0, cuda = 0;

}  // namespace

int MPIX_GPU_query_support(int kind, int* supported) {
  if (kind != MPIX_GPU_SUPPORT_CUDA) return 1;
  *supported = value;
  return status;
}

int MPIX_Query_cuda_support() { return cuda; }

int main(int count, char** words) {
  if (count != 4) return 2;
  status = std::atoi(words[1]);
  value = std::atoi(words[2]);
  cuda = std::atoi(words[3]);
  return hios::mpi::mpi_says_cuda_aware() ? 0 : 1;
}
