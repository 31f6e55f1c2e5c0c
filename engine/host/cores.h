#pragma once

#include <cstddef>
#include <vector>

#include "mpi/transport.h"

/// The cores that a rank may use, and those that it takes.
namespace hios {

/// Returns the cores that the operating system allows this process, in its numbering, ascending.
/// These are the cores of the first thread that called this: a job pins its threads, and a later
/// job of the same process would find only their cores.
std::vector<int> allowed_cores();

/// Lets the calling thread use these cores; empty: it goes on with its own. A thread begins with
/// those of the thread that started it, which may be a single one, where a backend has pinned that.
void allow_cores(const std::vector<int>& cores);

/// Returns the cores of one rank of a host: consecutive ones of those allowed, by local rank.
/// `threads_by_local_rank` has one entry for each rank of this host. Throws InputError where the
/// ranks of the host want more threads than there are cores, unless `oversubscribe`: then cores are
/// shared, and nothing is pinned (an empty list).
std::vector<int> assign_cores(const std::vector<int>& allowed,
                              const std::vector<int>& threads_by_local_rank, std::size_t local_rank,
                              bool oversubscribe);

}  // namespace hios
