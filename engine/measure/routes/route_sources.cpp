#include "engine/measure/routes/route_sources.h"

#include <linux/mempolicy.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "engine/host/machine.h"
#include "hios/base/error.h"

namespace hios {
namespace {

constexpr Bytes kLeastStretch = Bytes{1} << 26;
constexpr Bytes kLargestStretch = Bytes{1} << 28;

/// Asks that these pages, which nothing has touched yet, are a node's. Returns false where the
/// system refuses.
bool bind_to_node(void* pages, Bytes size_bytes, unsigned node) {
  constexpr unsigned kBits = 8 * sizeof(unsigned long);
  std::array<unsigned long, 16> mask{};
  if (node / kBits >= mask.size()) return false;
  mask[node / kBits] = 1ul << node % kBits;
  return syscall(SYS_mbind, pages, size_bytes, MPOL_BIND, mask.data(), mask.size() * kBits, 0) == 0;
}

/// Pages of the system, of a NUMA node if one is given.
class Pages {
 public:
  Pages(Bytes size_bytes, std::optional<unsigned> node) : size_(size_bytes) {
    data_ = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data_ == MAP_FAILED) {
      throw RunError("no memory of " + std::to_string(size_ >> 20) + " MB for measuring a route");
    }
    if (node && !bind_to_node(data_, size_, *node)) {
      munmap(data_, size_);
      throw RunError("the system refuses memory of the NUMA node " + std::to_string(*node));
    }
    std::memset(data_, 1, size_);
  }
  ~Pages() { munmap(data_, size_); }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;

  std::byte* data() const { return static_cast<std::byte*>(data_); }
  Bytes size() const { return size_; }

 private:
  void* data_;
  Bytes size_;
};

/// The memory of a device that moves write to, and begins again at its end.
class Target {
 public:
  Target(Backend& backend, Bytes size_bytes)
      : backend_(backend), buffer_(backend.allocate(size_bytes, "a route that is measured")) {
    const Pages zeros(kLargestMove, {});
    for (Bytes at = 0; at < size_bytes; at += kLargestMove)
      backend_.write(buffer_->data() + at, zeros.data(), kLargestMove);
  }

  void write(const std::byte* from, Bytes size_bytes) {
    if (at_ + size_bytes > buffer_->size_bytes()) at_ = 0;
    if (backend_.accelerator() == nullptr) {
      std::memcpy(buffer_->data() + at_, from, size_bytes);
    } else {
      backend_.write(buffer_->data() + at_, from, size_bytes);
    }
    at_ += size_bytes;
  }

 private:
  Backend& backend_;
  std::unique_ptr<Buffer> buffer_;
  Bytes at_ = 0;
};

class MemorySource final : public RouteSource {
 public:
  MemorySource(Backend& backend, std::optional<unsigned> node, Bytes size_bytes)
      : from_(size_bytes, node), to_(backend, size_bytes) {}

  void move(Bytes size_bytes) override {
    if (at_ + size_bytes > from_.size()) at_ = 0;
    to_.write(from_.data() + at_, size_bytes);
    at_ += size_bytes;
  }

 private:
  Pages from_;
  Target to_;
  Bytes at_ = 0;
};

/// A disk, whose bytes arrive in pages of the host, and go on to a device that is not on the host.
class DiskSource final : public RouteSource {
 public:
  DiskSource(Backend& backend, std::shared_ptr<const DirectFile> file, Bytes file_bytes,
             Bytes first_position)
      : file_(std::move(file)),
        file_bytes_(file_bytes),
        at_(first_position),
        arriving_(kLargestMove, {}) {
    if (backend.accelerator() != nullptr) to_.emplace(backend, kLargestMove);
  }

  void move(Bytes size_bytes) override {
    if (at_ + size_bytes > file_bytes_) at_ = 0;
    file_->read(arriving_.data(), at_, size_bytes, size_bytes);
    if (to_) to_->write(arriving_.data(), size_bytes);
    at_ += size_bytes;
  }

 private:
  std::shared_ptr<const DirectFile> file_;
  Bytes file_bytes_;
  Bytes at_;
  Pages arriving_;
  std::optional<Target> to_;
};

}  // namespace

Bytes uncached_bytes() {
  const Bytes twice = 2 * static_cast<Bytes>(last_level_cache_bytes());
  return std::clamp(twice / kLargestMove * kLargestMove, kLeastStretch, kLargestStretch);
}

bool gives_memory_of(unsigned node) {
  void* const page = mmap(nullptr, DirectFile::kAlignment, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return false;
  const bool given = bind_to_node(page, DirectFile::kAlignment, node);
  munmap(page, DirectFile::kAlignment);
  return given;
}

std::unique_ptr<RouteSource> memory_source(Backend& backend, std::optional<unsigned> node,
                                           Bytes size_bytes) {
  return std::make_unique<MemorySource>(backend, node, size_bytes);
}

std::unique_ptr<RouteSource> disk_source(Backend& backend, std::shared_ptr<const DirectFile> file,
                                         Bytes file_bytes, Bytes first_position) {
  return std::make_unique<DiskSource>(backend, std::move(file), file_bytes, first_position);
}

}  // namespace hios
