// The memory of the cpu backend: blocks are as large as they must be, zeroed, and lie together.
#include "engine/cpu/memory.h"

#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace hios::cpu {
namespace {

constexpr std::size_t kKiB = 1024, kMiB = 1024 * kKiB, kPage = 4 * kKiB;

bool is_zeroed(const AlignedBytes& bytes, std::size_t size) {
  return std::all_of(bytes.get(), bytes.get() + size, [](std::byte b) { return b == std::byte{}; });
}

/// Returns how many bytes of a block have pages. The C library may keep addresses after its end
/// that nobody touches, up to an alignment.
std::size_t resident(const AlignedBytes& bytes) {
  std::vector<unsigned char> pages(malloc_usable_size(bytes.get()) / kPage + 1);
  const bool known = mincore(bytes.get(), malloc_usable_size(bytes.get()), pages.data()) == 0;
  EXPECT_TRUE(known);
  return kPage * static_cast<std::size_t>(std::count_if(
                     pages.begin(), pages.end(), [](unsigned char page) { return page & 1; }));
}

TEST(CpuMemory, AddsAnEighthAtMost) {
  for (const std::size_t size :
       {64 * kKiB, kMiB, kMiB + 1, 5 * kMiB / 2, 9 * kMiB, 33 * kMiB + 1}) {
    const AlignedBytes bytes = aligned_bytes(size);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(bytes.get()) % kPage, 0u);
    EXPECT_GE(resident(bytes), size);
    EXPECT_LE(resident(bytes), size + size / 8 + kPage) << size;
    EXPECT_TRUE(is_zeroed(bytes, size)) << size;
  }
  EXPECT_NE(aligned_bytes(0).get(), nullptr);
}

/// Weights of 1x1 and 3x3 convolutions, as a ResNet has them: next to each other, with a page
/// between them at most, and few slabs for all.
TEST(CpuMemory, BlocksOfASlabLieTogether) {
  Slabs slabs;
  std::vector<AlignedBytes> blocks;
  std::size_t apart = 0;
  std::byte* end = nullptr;
  for (int i = 0; i < 60; ++i) {
    const std::size_t size = i % 3 == 1 ? 9 * kMiB / 4 : kMiB + static_cast<std::size_t>(i);
    blocks.push_back(slabs.take(size));
    std::byte* const block = blocks.back().get();
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % kPage, 0u);
    EXPECT_TRUE(is_zeroed(blocks.back(), size));
    if (block < end || block >= end + kPage) ++apart;
    std::fill_n(block, size, std::byte{1});
    end = block + size;
  }
  // 60 blocks are 85 MiB, and a slab of 16 MiB leaves 2 MiB unused at most.
  EXPECT_LE(apart, 7u);
}

}  // namespace
}  // namespace hios::cpu
