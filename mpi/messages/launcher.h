#pragma once

#include <cstddef>
#include <optional>

/// What the program that started this process (of MPI or of a batch system) says in the
/// environment. The only place of this floor that reads it.
namespace hios::mpi {

/// True if a launcher started this process, even as the only rank.
bool launched();

/// How many ranks the launcher started, where it says so.
std::optional<std::size_t> launched_ranks();

/// This process among all ranks, where the launcher says so.
std::optional<std::size_t> launched_rank();

/// This process among the tasks of a Slurm step, or among those of its batch script.
std::optional<std::size_t> launched_task();

/// This process among those that the launcher started on this host, where it says so.
std::optional<std::size_t> launched_local_rank();
std::optional<std::size_t> launched_local_size();

/// True if Slurm started this process as one of several tasks and gave them no PMIx, by which the
/// tasks of an Open MPI find each other: Slurm's own ways and PMI-2 do not do. False where the user
/// has chosen Open MPI's way himself (OMPI_MCA_pmix: an old one can be built to speak PMI-2).
bool launched_without_pmix();

/// For a rank that fails with this exit status, perhaps before it was in MPI: a launcher that
/// speaks PMI-1 (MPICH's) takes no notice of such an end, and the other ranks would wait in
/// MPI_Init; so it is asked to end the job. Nothing under others, which see it themselves.
/// Allocates nothing; the process ends next.
void tell_launcher_of_failure(int exit_status) noexcept;

/// Settings that MPI reads while it starts: ranks that outnumber their cores must give way while
/// they wait, or a message takes a time slice of the scheduler (4 ms) instead of microseconds. What
/// the user has set stays. REQUIRES: before MPI_Init; no other thread runs.
void prepare_launch_environment();

}  // namespace hios::mpi
