// The device's memory: one file in memory, which other processes map by its number, cut into blocks
// of whole pages. Between two blocks lies at least a page that belongs to none. It is filled with a
// pattern, which is compared when the block is freed; under the address sanitizer each access to it
// is an error, also from another process.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>

#include "support/emulated_cuda/runtime/device.h"
#include "support/emulated_cuda/runtime/memory.h"
#include "support/emulated_cuda/runtime/settings.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(data, size) ((void)(data), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(data, size) ((void)(data), (void)(size))
#endif

namespace hios::cuda_emulation {
namespace {

constexpr std::size_t kPage = 4096;
constexpr int kGarbage = 0xff;  // fresh memory: not a number, as float and as half
constexpr int kZone = 0xa5;
constexpr std::size_t kKept = 16 << 20;  // smaller blocks stay in memory: new pages take long

[[noreturn]] void fail(const char* what) {
  std::fprintf(stderr, "emulated CUDA: %s\n", what);
  std::abort();
}

std::size_t whole_pages(std::size_t size_bytes) { return (size_bytes + kPage - 1) / kPage * kPage; }

std::size_t pages(std::size_t size_bytes) {
  return whole_pages(size_bytes) + kPage;  // the last one is the zone
}

class Heap {
 public:
  static Heap& get() {
    static Heap* const heap = new Heap;
    return *heap;
  }

  void* take(std::size_t size_bytes, bool hidden) {
    if (!hidden && size_bytes > settings().memory_bytes - used_) return nullptr;
    const std::size_t wanted = pages(size_bytes);
    for (auto gap = gaps_.begin(); gap != gaps_.end(); ++gap) {
      const auto [at, size] = *gap;
      if (size < wanted) continue;
      gaps_.erase(gap);
      if (size > wanted) gaps_[at + wanted] = size - wanted;
      std::byte* const data = base_ + at;
      blocks_[data] = {size_bytes, hidden};
      if (!hidden) used_ += size_bytes;
      ASAN_UNPOISON_MEMORY_REGION(data, wanted);
      std::memset(data, kGarbage, size_bytes);
      std::memset(data + size_bytes, kZone, wanted - size_bytes);
      ASAN_POISON_MEMORY_REGION(data + size_bytes, wanted - size_bytes);
      return data;
    }
    return nullptr;
  }

  void give(std::byte* data) {
    const auto found = blocks_.find(data);
    if (found == blocks_.end()) fail("memory is freed that is not allocated");
    const auto [size_bytes, hidden] = found->second;
    const std::size_t taken = pages(size_bytes);
    ASAN_UNPOISON_MEMORY_REGION(data, taken);
    for (std::size_t i = size_bytes; i < taken; ++i) {
      if (data[i] != std::byte{kZone})
        fail("something wrote past the end of a block of the device");
    }
    if (!hidden) used_ -= size_bytes;
    blocks_.erase(found);
    const auto at = static_cast<std::size_t>(data - base_);
    if (taken < kKept) {
      std::memset(data, kGarbage, size_bytes);
    } else if (fallocate(file_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(at),
                         static_cast<off_t>(taken)) != 0) {
      fail("no memory can be given back");
    }
    ASAN_POISON_MEMORY_REGION(data, taken);
    join(gaps_.emplace(at, taken).first);
  }

  /// Returns the block that holds the address: its begin and size; null if there is none.
  std::pair<std::byte*, std::size_t> block_of(const std::byte* data) const {
    auto above = blocks_.upper_bound(const_cast<std::byte*>(data));
    if (above == blocks_.begin()) return {};
    const auto& [begin, block] = *std::prev(above);
    return data < begin + block.size_bytes ? std::pair(begin, block.size_bytes)
                                           : std::pair<std::byte*, std::size_t>();
  }
  bool holds(const std::byte* data) const { return data >= base_ && data < base_ + size_; }
  std::size_t left() const { return settings().memory_bytes - used_; }

  Exported exported(const std::byte* data) const {
    const auto [begin, size_bytes] = block_of(data);
    if (begin != data || begin == nullptr) return {};
    struct stat status {};
    fstat(file_, &status);
    return {getpid(),  file_,
            /*gpu=*/0, status.st_ino, static_cast<std::uint64_t>(begin - base_), size_bytes};
  }

 private:
  struct Block {
    std::size_t size_bytes;
    bool hidden;
  };
  using Gaps = std::map<std::size_t, std::size_t>;

  // Twice the device's memory: zones and gaps need some, too. The system gives pages only as they
  // are used.
  Heap() : size_(2 * pages(settings().memory_bytes) + (std::size_t{64} << 20)) {
    file_ = memfd_create("hios-emulated-cuda", MFD_CLOEXEC);
    if (file_ < 0 || ftruncate(file_, static_cast<off_t>(size_)) != 0) fail("no file in memory");
    void* const mapped =
        mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file_, 0);
    if (mapped == MAP_FAILED) fail("no address space");
    base_ = static_cast<std::byte*>(mapped);
    gaps_[0] = size_;
    ASAN_POISON_MEMORY_REGION(base_, size_);
  }

  void join(Gaps::iterator gap) {
    if (const auto next = std::next(gap);
        next != gaps_.end() && gap->first + gap->second == next->first) {
      gap->second += next->second;
      gaps_.erase(next);
    }
    if (gap == gaps_.begin()) return;
    const auto before = std::prev(gap);
    if (before->first + before->second != gap->first) return;
    before->second += gap->second;
    gaps_.erase(gap);
  }

  std::size_t size_;
  int file_ = -1;
  std::byte* base_ = nullptr;
  Gaps gaps_;
  std::map<std::byte*, Block> blocks_;
  std::size_t used_ = 0;
};

/// Ranges that are not the heap's.
struct Range {
  std::size_t size_bytes;
  MemoryKind kind;
};
std::map<std::byte*, Range>& ranges() {
  static auto* const known = new std::map<std::byte*, Range>;
  return *known;
}

}  // namespace

MemoryKind kind_of(const void* data, std::size_t size_bytes) {
  const auto* const begin = static_cast<const std::byte*>(data);
  Heap& heap = Heap::get();
  if (heap.holds(begin)) {
    const auto [block, block_bytes] = heap.block_of(begin);
    const bool within = block != nullptr && begin + size_bytes <= block + block_bytes;
    return within ? MemoryKind::kDevice : MemoryKind::kOutside;
  }
  auto above = ranges().upper_bound(const_cast<std::byte*>(begin));
  if (above == ranges().begin()) return MemoryKind::kPageable;
  const auto& [first, range] = *std::prev(above);
  if (begin >= first + range.size_bytes) return MemoryKind::kPageable;
  return begin + size_bytes <= first + range.size_bytes ? range.kind : MemoryKind::kOutside;
}

void require_on_device(const void* data, std::size_t size_bytes, std::size_t alignment) {
  const MemoryKind kind = kind_of(data, size_bytes);
  if (kind == MemoryKind::kPageable || kind == MemoryKind::kOutside) {
    throw Fault{cudaErrorIllegalAddress};
  }
  if (reinterpret_cast<std::uintptr_t>(data) % alignment != 0) {
    throw Fault{cudaErrorMisalignedAddress};
  }
}

void* take_block(std::size_t size_bytes, bool hidden) {
  return Heap::get().take(size_bytes, hidden);
}
void give_block(void* data) { Heap::get().give(static_cast<std::byte*>(data)); }
std::size_t memory_left() { return Heap::get().left(); }

void add_range(void* data, std::size_t size_bytes, MemoryKind kind) {
  ranges()[static_cast<std::byte*>(data)] = {size_bytes, kind};
}

std::size_t remove_range(void* data) {
  const auto found = ranges().find(static_cast<std::byte*>(data));
  if (found == ranges().end()) return 0;
  const std::size_t size_bytes = found->second.size_bytes;
  ranges().erase(found);
  return size_bytes;
}

Exported export_block(const void* data) {
  return Heap::get().exported(static_cast<const std::byte*>(data));
}

void* map_exported(const Exported& exported) {
  const std::string path =
      "/proc/" + std::to_string(exported.process) + "/fd/" + std::to_string(exported.file);
  const int file = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0) return nullptr;
  struct stat status {};
  void* mapped = MAP_FAILED;
  if (fstat(file, &status) == 0 && status.st_ino == exported.inode) {
    mapped = mmap(nullptr, exported.size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file,
                  static_cast<off_t>(exported.offset));
  }
  close(file);
  if (mapped == MAP_FAILED) return nullptr;
  ASAN_POISON_MEMORY_REGION(static_cast<std::byte*>(mapped) + exported.size_bytes,
                            whole_pages(exported.size_bytes) - exported.size_bytes);
  return mapped;
}

void unmap_exported(void* mapped, std::size_t size_bytes) {
  ASAN_UNPOISON_MEMORY_REGION(mapped, whole_pages(size_bytes));
  munmap(mapped, size_bytes);
}

}  // namespace hios::cuda_emulation
