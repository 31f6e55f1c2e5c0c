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

/// The cores that a rank wants.
struct CoreWish {
  int count = 1;
  std::vector<int> near = {};  ///< those next to its device; empty: all are alike
};

/// Returns the cores of each rank of a host, by local rank: consecutive ones of those allowed.
/// Ranks with a device choose first, among those near it as far as these suffice. Throws InputError
/// where the ranks of the host want more cores than there are, unless `oversubscribe`: then cores
/// are shared, and nothing is pinned (empty lists).
std::vector<std::vector<int>> assign_cores(const std::vector<int>& allowed,
                                           const std::vector<CoreWish>& by_local_rank,
                                           bool oversubscribe);

/// Returns the allowed cores near a rank's device, less those that others compute on: for the
/// threads that feed it. Empty where all cores are alike. `assigned`: the result of assign_cores,
/// in which ranks without a device have no `near`.
std::vector<int> cores_near_device(const std::vector<int>& allowed,
                                   const std::vector<CoreWish>& by_local_rank,
                                   const std::vector<std::vector<int>>& assigned,
                                   std::size_t local_rank);

}  // namespace hios
