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
constexpr std::size_t kSlab = 4 * kHugePage;

}  // namespace

AlignedBytes aligned_bytes(std::size_t size) {
  const std::size_t alignment = size >= kHugePage / 2 ? kHugePage
                                : size >= 16 * kPage  ? kPage
                                                      : kLine;
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

AlignedBytes Slabs::take(std::size_t size) {
  if (size < 16 * kPage || size >= kHugePage / 2) return aligned_bytes(size);
  const std::size_t rounded = (size + kPage - 1) / kPage * kPage;
  if (!slab_ || used_ + rounded > kSlab) {
    slab_ = std::shared_ptr<std::byte>(aligned_bytes(kSlab).release(), std::free);
    used_ = 0;
  }
  std::byte* const block = slab_.get() + used_;
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
