#pragma once

#include <filesystem>

#include "hios/base/files/descriptor.h"

namespace hios {

/// Keeps programs that grow one file from growing it at the same time. The lock is advisory, lies
/// on the file itself, and leaves nothing behind: whoever holds it may give the name to a new file,
/// upon which those who wait turn to that one. Released at the end, also of a killed program.
class FileLock {
 public:
  /// Waits for others, for `limit_s` at most; then throws RunError. Where there is no such file,
  /// nothing is locked. Where the file system has no locks, warns, and goes on without.
  explicit FileLock(const std::filesystem::path& file, double limit_s = kLimitSeconds);

  static constexpr double kLimitSeconds = 30;

  /// Whether there was a file.
  bool found() const { return descriptor_.is_open(); }

 private:
  Descriptor descriptor_;
};

}  // namespace hios
