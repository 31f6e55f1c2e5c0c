#include "engine/emulated/shared_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <system_error>

#include "hios/base/error.h"

namespace hios::emulated {
namespace {

/// Returns a name that no other process of this host uses.
std::string new_name() {
  static std::atomic<int> count{0};
  return "/hios-emulated-" + std::to_string(getpid()) + "-" + std::to_string(count++);
}

[[noreturn]] void refuse(const std::string& name) {
  throw RunError("no memory for the ranks of an emulated run to share (" + name +
                 "): " + std::generic_category().message(errno));
}

}  // namespace

SharedMemory::SharedMemory(std::size_t size_bytes) : name_(new_name()), size_bytes_(size_bytes) {
  shm_unlink(name_.c_str());  // a process of the same number that was killed may have left it
  const int descriptor = shm_open(name_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (descriptor < 0) refuse(name_);
  named_ = true;
  const int failure = posix_fallocate(descriptor, 0, static_cast<off_t>(size_bytes_));
  if (failure != 0) {
    close(descriptor);
    release_name();
    errno = failure;
    refuse(name_);
  }
  map(descriptor);
}

SharedMemory::SharedMemory(const std::string& name, std::size_t size_bytes)
    : name_(name), size_bytes_(size_bytes) {
  const int descriptor = shm_open(name_.c_str(), O_RDWR | O_CLOEXEC, 0);
  if (descriptor < 0) refuse(name_);
  map(descriptor);
}

void SharedMemory::map(int descriptor) {
  void* const mapped =
      mmap(nullptr, size_bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  const int failure = errno;
  close(descriptor);
  if (mapped == MAP_FAILED) {
    if (named_) release_name();
    errno = failure;
    refuse(name_);
  }
  data_ = static_cast<std::byte*>(mapped);
}

SharedMemory::~SharedMemory() {
  if (named_) release_name();
  munmap(data_, size_bytes_);
}

void SharedMemory::release_name() {
  shm_unlink(name_.c_str());
  named_ = false;
}

}  // namespace hios::emulated
