#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace hios::mpi {

/// Memory that the ranks of a host share, zero at first. It has no name in any file system, so
/// nothing of it stays after the job, however that ends.
class SharedMemory {
 public:
  /// When the system finds pages for the memory: a rank that it has none for while it runs ends by
  /// a signal.
  enum class Pages { kNow, kWhenWritten };
  /// Makes memory. Throws RunError where the system refuses.
  explicit SharedMemory(std::size_t size_bytes, Pages pages = Pages::kNow);
  /// Opens the memory that another rank has made, and still has, by its name(); with Pages::kNow,
  /// no first access to a page waits. Throws RunError where that cannot be opened, or is other
  /// memory.
  SharedMemory(const std::string& name, std::size_t size_bytes, Pages pages = Pages::kWhenWritten);
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  /// Returns the text by which other ranks of the host open the memory.
  const std::string& name() const { return name_; }
  /// Aligned for every type.
  std::byte* data() const;

 private:
  void map(int descriptor, Pages pages);

  const std::size_t size_bytes_;
  int descriptor_ = -1;  // kept by the maker, for the others to open
  std::string name_;
  std::byte* mapped_ = nullptr;
};

}  // namespace hios::mpi
