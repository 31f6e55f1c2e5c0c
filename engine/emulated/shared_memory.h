#pragma once

#include <cstddef>
#include <string>

namespace hios::emulated {

/// Memory that the ranks of a host share, zero at first. It has a name only until release_name(),
/// so that nothing of it stays after the job.
class SharedMemory {
 public:
  /// Makes memory under a new name. Throws RunError where the system refuses.
  explicit SharedMemory(std::size_t size_bytes);
  /// Opens another rank's memory. Throws RunError likewise.
  SharedMemory(const std::string& name, std::size_t size_bytes);
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  const std::string& name() const { return name_; }
  std::byte* data() const { return data_; }
  /// Removes the name, once all ranks have opened the memory. REQUIRES: this rank made it.
  void release_name();

 private:
  void map(int descriptor);

  std::string name_;
  std::size_t size_bytes_;
  bool named_ = false;
  std::byte* data_ = nullptr;
};

}  // namespace hios::emulated
