#pragma once

#include "mpi/session/session.h"

/// Launches that cannot work, before and after MPI_Init. Only in builds with MPI.
namespace hios::mpi {

/// Refuses a launch in which MPI_Init would end the process without a line of ours, or with many of
/// its own: Slurm without PMIx, or too few addresses (`ulimit -v`). Then prints one line, for all
/// tasks or with the rank, and returns true; the process ends next, with ExitCode::kBadInput.
bool refuse_launch(const ErrorText& text_of);

/// Throws InputError, on every rank alike, if MPI sees other ranks than the launcher started, or
/// allows no threads. `thread_level`: of MPI_Init_thread.
void check_launch(const Transport& transport, int thread_level);

}  // namespace hios::mpi
