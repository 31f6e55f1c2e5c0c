#pragma once

/// Replaces MPI's header, for mpi/messages/gpu_support.cpp alone: a library with the calls of MPICH
/// and Cray, whose answers gpu_support_probe.cpp sets.
inline constexpr int MPI_SUCCESS = 0;
inline constexpr int MPIX_GPU_SUPPORT_CUDA = 0;
int MPIX_GPU_query_support(int kind, int* supported);
int MPIX_Query_cuda_support();
