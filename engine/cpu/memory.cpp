#include "engine/cpu/memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <string>

#include "hios/base/error.h"
#include "hios/base/need.h"

namespace hios::cpu {

namespace {

constexpr std::size_t kLine = 64, kPage = 4096, kHugePage = std::size_t{2} << 20;
constexpr std::size_t kSlab = 8 * kHugePage, kLargestInSlab = kSlab / 4;
constexpr std::size_t kSmallestInSlab = 16 * kPage;

std::size_t rounded_up(std::size_t size, std::size_t to) {
  const std::size_t rounded = (size + to - 1) / to * to;
  if (rounded < size) throw std::bad_alloc();
  return rounded;
}

/// Returns the size with which a block is allocated: whole huge pages where that adds an eighth at
/// most. A network has hundreds of blocks of some MiB, and halves of pages would add up.
std::size_t allocated(std::size_t size, std::size_t alignment) {
  if (alignment != kHugePage) return rounded_up(size, alignment);
  const std::size_t whole = rounded_up(size, kHugePage);
  return whole - size <= size / 8 ? whole : rounded_up(size, kPage);
}

/// Allocates memory whose pages are not touched yet.
AlignedBytes untouched_bytes(std::size_t size) {
  const std::size_t alignment = size >= kHugePage / 2     ? kHugePage
                                : size >= kSmallestInSlab ? kPage
                                                          : kLine;
  const std::size_t rounded = allocated(std::max<std::size_t>(size, 1), alignment);
  void* bytes = nullptr;
  if (posix_memalign(&bytes, alignment, rounded) != 0) throw std::bad_alloc();
  if (alignment == kHugePage) madvise(bytes, rounded, MADV_HUGEPAGE);  // only advice to the system
  return AlignedBytes(static_cast<std::byte*>(bytes));
}

}  // namespace

AlignedBytes aligned_bytes(std::size_t size) {
  AlignedBytes bytes = untouched_bytes(size);
  std::memset(bytes.get(), 0, rounded_up(size, size >= kSmallestInSlab ? kPage : kLine));
  return bytes;
}

AlignedBytes Slabs::take(std::size_t size) {
  if (size < kSmallestInSlab || size >= kLargestInSlab) return aligned_bytes(size);
  const std::size_t rounded = rounded_up(size, kPage);
  if (!slab_ || used_ + rounded > kSlab) {
    slab_ = std::shared_ptr<std::byte>(untouched_bytes(kSlab).release(), std::free);
    used_ = 0;
  }
  std::byte* const block = slab_.get() + used_;
  std::memset(block, 0, rounded);
  used_ += rounded;
  return AlignedBytes(block, FreeBytes{slab_});
}

// oneDNN 2.6 and 3 map 256 KiB for each kernel, writable, and make them executable in place. An
// operator has a handful of kernels; some are made only when it first runs.
void require_code_memory() {
  constexpr std::size_t kRoom = std::size_t{8} << 20;
  void* const room =
      mmap(nullptr, kRoom, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (room == MAP_FAILED) throw std::bad_alloc();
  const bool executable = mprotect(room, kRoom, PROT_READ | PROT_WRITE | PROT_EXEC) == 0;
  const int reason = errno;
  munmap(room, kRoom);
  if (executable) return;
  if (reason == ENOMEM) throw std::bad_alloc();
  throw InputError(
      std::string("the system does not let oneDNN execute the code that it generates (") +
          std::strerror(reason) +
          "; SELinux's execmem, seccomp or MemoryDenyWriteExecute of systemd)",
      need::OtherBackend{});
}

}  // namespace hios::cpu
