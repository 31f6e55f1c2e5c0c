#pragma once

#include <cstddef>
#include <vector>

#include "mpi/transport.h"

/// Which cores a rank may use, and which it takes.
namespace hios {

/// The cores that the operating system allows this process, in its numbering, ascending: what the
/// first thread that asked was allowed then, because a job pins its threads, and a later job of the
/// same process would find only their cores.
std::vector<int> allowed_cores();

/// The cores of one rank of a host: `threads` consecutive ones out of those allowed, by local rank.
/// `threads_by_local_rank` has one entry a rank of this host. Throws InputError
/// where the ranks of the host want more threads than there are cores, unless `oversubscribe`: then
/// cores are shared round robin and nothing is pinned (an empty list).
std::vector<int> assign_cores(const std::vector<int>& allowed,
                              const std::vector<int>& threads_by_local_rank, std::size_t local_rank,
                              bool oversubscribe);

}  // namespace hios
