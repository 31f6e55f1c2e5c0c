#pragma once

#include <memory>
#include <optional>

#include "engine/backend/backend.h"
#include "hios/base/files/direct_file.h"

/// Stores as a rank sees them while its routes are measured.
namespace hios {

/// A store's bytes on their way to the device of this rank. One thread at a time; where the device
/// is asynchronous, the main thread.
class RouteSource {
 public:
  virtual ~RouteSource() = default;
  /// Moves so many of the next bytes to the device; returns when they are there. Begins again after
  /// the last. REQUIRES: a multiple of DirectFile::kAlignment, at most kLargestMove.
  virtual void move(Bytes size_bytes) = 0;
};

inline constexpr Bytes kLargestMove = Bytes{1} << 22;
inline constexpr Bytes kSmallestMove = 4096;

/// Returns memory of a NUMA node, by the operating system's number, copied to the device; without a
/// number, memory of the node that this thread runs on. `backend` outlives it. Throws RunError
/// where the system refuses the node's memory. REQUIRES: a size of whole kLargestMove.
std::unique_ptr<RouteSource> memory_source(Backend& backend, std::optional<unsigned> node,
                                           Bytes size_bytes);
/// Returns true if the system gives this process memory of the node; containers may refuse.
bool gives_memory_of(unsigned node);
/// Returns a size of memory_source() that caches cannot keep.
Bytes uncached_bytes();

/// Returns a file that is read directly, from `first_position` on, and again from its beginning.
/// `backend` outlives it. REQUIRES: multiples of kLargestMove.
std::unique_ptr<RouteSource> disk_source(Backend& backend, std::shared_ptr<const DirectFile> file,
                                         Bytes file_bytes, Bytes first_position);

}  // namespace hios
