// The maker keeps a descriptor of memory without a name, and the others open it by process and
// descriptor, as ranks do with each other's flight records (hios/flight/recorder.cpp). In another
// process namespace that may be another process: the memory begins with a random number, which the
// name has, too.
#include "mpi/shared/shared_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <random>
#include <sstream>
#include <system_error>

#include "hios/base/error.h"
#include "hios/flight/descriptors.h"

namespace hios::mpi {
namespace {

/// The bytes before data(), which hold the number.
constexpr std::size_t kHeader = 64;

struct MemoryName {
  long process = 0;
  int descriptor = -1;
  std::uint64_t number = 0;
};

std::string to_text(const MemoryName& name) {
  std::ostringstream text;
  text << name.process << ' ' << name.descriptor << ' ' << name.number;
  return text.str();
}

std::uint64_t random_number() {
  std::random_device random;
  return (static_cast<std::uint64_t>(random()) << 32) | random();
}

[[noreturn]] void refuse_memory(std::size_t size_bytes, int failure) {
  throw RunError("no memory for the ranks of a host to share (" + std::to_string(size_bytes) +
                 " bytes): " + std::generic_category().message(failure) +
                 "; the job's ranks need more memory");
}

[[noreturn]] void refuse_opening(const std::string& why) {
  throw RunError("the memory that the ranks of a host share cannot be opened: " + why +
                 "; start all ranks as one user in one process namespace");
}

int allocate(int descriptor, std::size_t size_bytes, SharedMemory::Pages pages) {
  if (pages == SharedMemory::Pages::kWhenWritten) {
    return ftruncate(descriptor, static_cast<off_t>(size_bytes)) == 0 ? 0 : errno;
  }
  int failure = EINTR;
  while (failure == EINTR) {
    failure = posix_fallocate(descriptor, 0, static_cast<off_t>(size_bytes));
  }
  return failure;
}

}  // namespace

SharedMemory::SharedMemory(std::size_t size_bytes, Pages pages)
    : size_bytes_(kHeader + size_bytes),
      descriptor_(flight::above_standard(memfd_create("hios-ranks", MFD_CLOEXEC))) {
  if (descriptor_ < 0) refuse_memory(size_bytes_, errno);
  if (const int failure = allocate(descriptor_, size_bytes_, pages); failure != 0) {
    close(descriptor_);
    refuse_memory(size_bytes_, failure);
  }
  const MemoryName name{getpid(), descriptor_, random_number()};
  name_ = to_text(name);
  map(descriptor_, pages);
  if (mapped_ == nullptr) {
    const int failure = errno;
    close(descriptor_);
    refuse_memory(size_bytes_, failure);
  }
  std::memcpy(mapped_, &name.number, sizeof name.number);
}

SharedMemory::SharedMemory(const std::string& text, std::size_t size_bytes, Pages pages)
    : size_bytes_(kHeader + size_bytes), name_(text) {
  MemoryName name;
  std::istringstream(text) >> name.process >> name.descriptor >> name.number;
  const std::string file =
      "/proc/" + std::to_string(name.process) + "/fd/" + std::to_string(name.descriptor);
  const int opened = open(file.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (opened < 0) refuse_opening(file + ": " + std::generic_category().message(errno));
  struct stat status {};
  const bool whole =
      fstat(opened, &status) == 0 && status.st_size == static_cast<off_t>(size_bytes_);
  if (whole) map(opened, pages);
  close(opened);
  if (mapped_ == nullptr) refuse_opening(file + " has another size, or cannot be mapped");
  if (std::memcmp(mapped_, &name.number, sizeof name.number) == 0) return;
  munmap(mapped_, size_bytes_);
  refuse_opening(file + " is other memory");
}

std::byte* SharedMemory::data() const { return mapped_ + kHeader; }

/// Leaves null where the system refuses.
void SharedMemory::map(int descriptor, Pages pages) {
  const int populate = pages == Pages::kNow ? MAP_POPULATE : 0;
  void* const mapped =
      mmap(nullptr, size_bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | populate, descriptor, 0);
  if (mapped != MAP_FAILED) mapped_ = static_cast<std::byte*>(mapped);
}

SharedMemory::~SharedMemory() {
  munmap(mapped_, size_bytes_);
  if (descriptor_ >= 0) close(descriptor_);
}

}  // namespace hios::mpi
