#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "hios/base/ids.h"
#include "mpi/shared/shared_memory.h"
#include "mpi/transport.h"

/// Memory that ranks of one host share to compute in, so that tensors are not copied from rank to
/// rank.
namespace hios::mpi {

/// Added to the path() of a transport, for reports, where tensors lie in such memory.
inline constexpr std::string_view kInSharedMemory = ", tensors in memory that ranks share";

/// Returns a number for each rank, equal for ranks that can share memory: those of a host that can
/// open the memory of its first rank; any other rank has a number of its own. Collective.
std::vector<std::size_t> memory_sharers(Transport& transport);

/// Makes the memory that the ranks of each number share, and opens it on each of them; null on a
/// rank that shares none. `size_bytes` is the same on ranks that share. Throws RunError, on all
/// ranks, where memory is short. Collective.
std::unique_ptr<SharedMemory> open_shared_arena(Transport& transport,
                                                std::span<const std::size_t> sharers,
                                                Bytes size_bytes);

}  // namespace hios::mpi
