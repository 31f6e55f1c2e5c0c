#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>

namespace hios::cpu {

struct FreeBytes {
  void operator()(std::byte* p) const { std::free(p); }
};
/// Memory that begins on a cache line, owned.
using AlignedBytes = std::unique_ptr<std::byte[], FreeBytes>;

/// Zeroed, so that its pages are touched here and not in a run. Large blocks ask for huge pages:
/// weights are read once in an inference, and their page walks would show. Throws std::bad_alloc.
AlignedBytes aligned_bytes(std::size_t size);

}  // namespace hios::cpu
