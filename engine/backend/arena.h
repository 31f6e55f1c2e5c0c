#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "hios/base/ids.h"

/// Where tensors lie in one block of memory, so that those that are never needed at the same time
/// share their bytes.
namespace hios {

/// Every place in an arena begins at a multiple of this many bytes: a cache line, and what the
/// backends ask for (Backend::bind).
inline constexpr Bytes kArenaAlignment = 64;

/// A tensor and the closed interval of instants in which its bytes must not be touched by others.
struct Lifetime {
  Bytes size_bytes = 0;
  std::size_t first = 0;
  std::size_t last = 0;
};

struct ArenaLayout {
  std::vector<Bytes> offsets;  ///< by index of the lifetime
  Bytes peak_bytes = 0;        ///< what the arena needs, a multiple of kArenaAlignment
};

/// Gives each tensor a place such that places of overlapping lifetimes are disjoint. Depends on the
/// arguments alone.
ArenaLayout place_in_arena(std::span<const Lifetime> lifetimes);

/// `size_bytes` rounded up to kArenaAlignment.
constexpr Bytes aligned_size(Bytes size_bytes) {
  return (size_bytes + kArenaAlignment - 1) / kArenaAlignment * kArenaAlignment;
}

}  // namespace hios
