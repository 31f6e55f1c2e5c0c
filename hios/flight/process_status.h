#pragma once

#include <sys/types.h>

#include <optional>

namespace hios::flight {

/// The status with which another process ends, for one that is not its parent and therefore cannot
/// wait for it. Linux shows the status until the parent has asked for it, and since version 6.15
/// afterwards, too.
class ProcessStatus {
 public:
  /// Opens a process of the same user, which has not ended.
  explicit ProcessStatus(pid_t process);
  ~ProcessStatus();
  ProcessStatus(const ProcessStatus&) = delete;
  ProcessStatus& operator=(const ProcessStatus&) = delete;

  /// Returns the status in the form of waitpid() as soon as the process starts to end, which
  /// includes the closing of its files. Nothing: it runs, or the system does not say.
  std::optional<int> read() const;

  /// Return the descriptors that it needs; −1: none.
  int stat_descriptor() const { return stat_; }
  int process_descriptor() const { return process_; }

 private:
  int stat_ = -1;
  int process_ = -1;
};

}  // namespace hios::flight
