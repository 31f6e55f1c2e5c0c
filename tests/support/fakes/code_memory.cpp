// Preloaded into a program, this limits the memory for code that libraries generate, as oneDNN
// does. $CODE_MEMORY is the number of MiB that it may map at a time, or "forbidden": a system whose
// policy lets nothing be executed that was written. The C library's own memory is not concerned.
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <mutex>

namespace {

struct Mapping {
  void* address = nullptr;
  std::size_t size = 0;
};
std::array<Mapping, 4096> mappings;
std::size_t mapped = 0;
std::mutex mutex;

bool forbidden() {
  const char* const limit = std::getenv("CODE_MEMORY");
  return limit && std::strcmp(limit, "forbidden") == 0;
}

std::size_t limit_bytes() {
  const char* const limit = std::getenv("CODE_MEMORY");
  if (!limit || forbidden()) return std::numeric_limits<std::size_t>::max();
  return std::strtoul(limit, nullptr, 10) << 20;
}

Mapping& find(const void* address) {
  for (Mapping& mapping : mappings) {
    if (mapping.address == address) return mapping;
  }
  std::abort();  // more mappings than there are rooms for
}

void* system_mmap(void* at, std::size_t size, int protection, int flags, int file, off_t offset) {
  return reinterpret_cast<void*>(syscall(SYS_mmap, at, size, protection, flags, file, offset));
}

}  // namespace

extern "C" {

void* mmap(void* at, std::size_t size, int protection, int flags, int file, off_t offset) noexcept {
  constexpr int kOwn = MAP_PRIVATE | MAP_ANONYMOUS;
  if ((flags & kOwn) != kOwn || (protection & PROT_WRITE) == 0)
    return system_mmap(at, size, protection, flags, file, offset);
  const std::lock_guard lock(mutex);
  if (size > limit_bytes() - mapped) {
    errno = ENOMEM;
    return MAP_FAILED;
  }
  void* const address = system_mmap(at, size, protection, flags, file, offset);
  if (address == MAP_FAILED) return address;
  find(nullptr) = {address, size};
  mapped += size;
  return address;
}

int munmap(void* address, std::size_t size) noexcept {
  const std::lock_guard lock(mutex);
  for (Mapping& mapping : mappings) {
    if (mapping.address != address) continue;
    mapped -= mapping.size;
    mapping = {};
    break;
  }
  return static_cast<int>(syscall(SYS_munmap, address, size));
}

int mprotect(void* address, std::size_t size, int protection) noexcept {
  if ((protection & PROT_EXEC) != 0 && forbidden()) {
    errno = EACCES;
    return -1;
  }
  return static_cast<int>(syscall(SYS_mprotect, address, size, protection));
}

}  // extern "C"
