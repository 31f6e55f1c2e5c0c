#include "engine/cpu/memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <new>

namespace hios::cpu {

AlignedBytes aligned_bytes(std::size_t size) {
  constexpr std::size_t kLine = 64, kHugePage = std::size_t{2} << 20;
  const std::size_t alignment = size >= kHugePage / 2 ? kHugePage : kLine;
  const std::size_t rounded =
      (std::max<std::size_t>(size, 1) + alignment - 1) / alignment * alignment;
  if (rounded < size) throw std::bad_alloc();
  AlignedBytes bytes(static_cast<std::byte*>(std::aligned_alloc(alignment, rounded)));
  if (!bytes) throw std::bad_alloc();
  // only advice to the system
  if (alignment == kHugePage) madvise(bytes.get(), rounded, MADV_HUGEPAGE);
  std::memset(bytes.get(), 0, rounded);
  return bytes;
}

}  // namespace hios::cpu
