#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "hios/base/ids.h"

/// The layout of tensors in one range of memory, in which tensors that are never needed at the same
/// time share bytes.
namespace hios {

/// The alignment of every slot in an arena, in bytes: a cache line, and the alignment that
/// Backend::bind promises.
inline constexpr Bytes kArenaAlignment = 64;

/// A tensor and the closed interval of instants in which its bytes must not be touched by others.
struct Lifetime {
  Bytes size_bytes = 0;
  std::size_t first = 0;
  std::size_t last = 0;
};

struct ArenaLayout {
  std::vector<Bytes> offsets;  ///< by index of the lifetime
  Bytes peak_bytes = 0;        ///< the size of the arena, a multiple of kArenaAlignment
};

/// Gives each tensor a slot such that slots of overlapping lifetimes are disjoint. Deterministic.
ArenaLayout place_in_arena(std::span<const Lifetime> lifetimes);

/// Does the same for tensors whose lifetimes are in no one order: `overlap` says whether those of
/// two tensors, by their indices, may overlap; it is symmetric.
ArenaLayout place_in_arena(std::span<const Bytes> sizes,
                           const std::function<bool(std::size_t, std::size_t)>& overlap);

/// Returns the last address or offset not after `begin` at which a tensor may begin.
constexpr Bytes aligned_begin(Bytes begin) { return begin - begin % kArenaAlignment; }

/// Returns `size_bytes` rounded up to kArenaAlignment.
constexpr Bytes aligned_size(Bytes size_bytes) {
  return (size_bytes + kArenaAlignment - 1) / kArenaAlignment * kArenaAlignment;
}

}  // namespace hios
