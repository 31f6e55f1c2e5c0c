#include "hios/base/files/direct_file.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <memory>
#include <vector>

#include "hios/base/error.h"
#include "hios/base/files/output_file.h"

namespace hios {
namespace {

constexpr int kFlags = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;  // no pipe is waited for

struct FreePage {
  void operator()(void* page) const { std::free(page); }
};

/// Returns true if the first page can be read: some file systems take the flag, and refuse reads.
bool reads(int descriptor) {
  const std::unique_ptr<void, FreePage> page(
      std::aligned_alloc(DirectFile::kAlignment, DirectFile::kAlignment));
  return page && ::pread(descriptor, page.get(), DirectFile::kAlignment, 0) >= 0;
}

/// Returns true for a file system that is memory. Some take the flag for direct reads.
bool is_memory(int descriptor) {
  struct statfs status {};
  if (::fstatfs(descriptor, &status) != 0) return false;
  return status.f_type == TMPFS_MAGIC || status.f_type == RAMFS_MAGIC;
}

/// The pages of a file, mapped but not touched.
class Mapping {
 public:
  Mapping(int descriptor, std::size_t size)
      : begin_(::mmap(nullptr, size, PROT_READ, MAP_SHARED, descriptor, 0)), size_(size) {}
  ~Mapping() {
    if (begin_ != MAP_FAILED) ::munmap(begin_, size_);
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  /// Returns the bytes in memory; 0 where the system does not tell.
  Bytes in_memory(std::size_t page) const {
    if (begin_ == MAP_FAILED) return 0;
    std::vector<unsigned char> pages((size_ + page - 1) / page);
    if (::mincore(begin_, size_, pages.data()) != 0) return 0;
    const auto held = std::ranges::count_if(pages, [](unsigned char is) { return (is & 1) != 0; });
    return std::min<Bytes>(size_, static_cast<Bytes>(held) * page);
  }

 private:
  void* begin_;
  std::size_t size_;
};

}  // namespace

DirectFile::DirectFile(const std::filesystem::path& file) : name_(shown(file)), descriptor_(-1) {
  descriptor_ = Descriptor(::open(file.c_str(), kFlags | O_DIRECT));
  if (!descriptor_.is_open() || !reads(descriptor_.get()) || is_memory(descriptor_.get())) {
    direct_ = false;
    descriptor_ = Descriptor(::open(file.c_str(), kFlags));
  }
  struct stat status {};
  if (!descriptor_.is_open() || ::fstat(descriptor_.get(), &status) != 0) {
    throw InputError(name_ + ": cannot be read: " + system_error());
  }
  if (!S_ISREG(status.st_mode)) {
    throw InputError(name_ + ": is no regular file: a run reads it from any place");
  }
  size_bytes_ = static_cast<Bytes>(status.st_size);
}

void DirectFile::read(std::byte* to, Bytes offset, Bytes needed, Bytes room) const {
  read({to, room}, {}, offset, needed);
}

void DirectFile::read(const Place& first, const Place& second, Bytes offset, Bytes needed) const {
  for (Bytes got = 0; got < needed;) {
    const Bytes in_first = std::min(got, first.room), in_second = got - in_first;
    const iovec places[] = {{first.to + in_first, first.room - in_first},
                            {second.to + in_second, second.room - in_second}};
    const ssize_t more = ::preadv(descriptor_.get(), places, second.room > 0 ? 2 : 1,
                                  static_cast<off_t>(offset + got));
    if (more < 0 && errno == EINTR) continue;
    if (more < 0) {
      throw RunError(name_ + ": cannot be read from byte " + std::to_string(offset + got) +
                     " on: " + system_error());
    }
    got += static_cast<Bytes>(more);
    // A direct read that ends between two multiples has met the end of the file.
    if (got < needed && (more == 0 || (direct_ && got % kAlignment != 0))) {
      throw RunError(name_ + ": ends at byte " + std::to_string(offset + got) + ", and had " +
                     std::to_string(size_bytes_) + " bytes when the run began");
    }
  }
}

void DirectFile::drop_cached() const {
  ::posix_fadvise(descriptor_.get(), 0, 0, POSIX_FADV_DONTNEED);
}

Bytes DirectFile::cached_bytes() const {
  if (size_bytes_ == 0) return 0;
  return Mapping(descriptor_.get(), size_bytes_)
      .in_memory(static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)));
}

}  // namespace hios
