#pragma once

#include <chrono>
#include <cstddef>
#include <optional>

/// Facts that the launcher of this process (of MPI or of a batch system) gives in the environment.
/// No other code of this floor reads the environment.
namespace hios::mpi {

/// Returns true if a launcher started this process, even as the only rank.
bool launched();

/// Returns the number of ranks that the launcher started, if it gives that number.
std::optional<std::size_t> launched_ranks();

/// Returns the index of this process among all ranks, if the launcher gives it.
std::optional<std::size_t> launched_rank();

/// Returns the index of this process among the tasks of a Slurm step, or of its batch script.
std::optional<std::size_t> launched_task();

/// Returns the index of this process among those started on this host, if the launcher gives it.
std::optional<std::size_t> launched_local_rank();
std::optional<std::size_t> launched_local_size();

/// Returns true if Slurm started this process as one of several tasks without PMIx, by which the
/// tasks of an Open MPI find each other; Slurm's own interfaces and PMI-2 do not suffice. False if
/// the user has chosen Open MPI's own way (OMPI_MCA_pmix: an old one can be built to speak PMI-2).
bool launched_without_pmix();

/// Reports the failure of this rank, perhaps before MPI_Init, to its launcher. A launcher that
/// speaks PMI-1 (MPICH's) does not notice such an exit, and the other ranks would wait in MPI_Init;
/// so this asks it to end the job. Does nothing under other launchers, which notice it themselves.
/// Allocates nothing; the process ends next.
void report_failure_to_launcher(int exit_status) noexcept;

/// Waits until the other ranks have connected to the launcher, if there are any. Open MPI 5's
/// launcher mostly hung or crashed when it had to end ranks that were connecting in MPI_Init (PMIx
/// uses freed memory). Allocates nothing; the process ends next.
void let_others_connect() noexcept;

/// Waits until nothing that was printed lies in the pipes or sockets of standard output and error
/// any more: their reader, the launcher, may drop the rest when a rank aborts. Gives up after
/// `limit`, since the reader may have stopped. Allocates nothing.
void let_launcher_read(std::chrono::milliseconds limit) noexcept;

/// Returns true if bytes lie in this pipe or socket that its reader has not taken; false for other
/// files.
bool holds_unread_bytes(int descriptor) noexcept;

/// Sets the environment variables that MPI reads at start-up. Ranks that outnumber their cores must
/// yield while they wait, or a message takes a time slice of the operating system's scheduler (4
/// ms) instead of microseconds. Ranks of one host reach each other by shared memory, and then open
/// no ports for ranks elsewhere, unless /dev/shm has too little room for them. Variables that the
/// user has set stay, and transports that the user's own file of settings names. REQUIRES: before
/// MPI_Init; no other thread runs.
void prepare_launch_environment();

}  // namespace hios::mpi
