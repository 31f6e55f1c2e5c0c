#pragma once

#include <filesystem>

#include "hios/base/files/descriptor.h"

namespace hios {

/// A lock that keeps programs from growing one file at the same time. It is advisory and lies on
/// the file itself, so it leaves no other file. Its owner may give the name to a new file; those
/// who wait then lock the new one. The destructor releases it, and the system when a program is
/// killed.
class FileLock {
 public:
  /// Waits for other programs, at most `limit_s`, then throws RunError. Locks nothing where there
  /// is no such file. Warns and continues without a lock where the file system has none.
  explicit FileLock(const std::filesystem::path& file, double limit_s = kLimitSeconds);

  static constexpr double kLimitSeconds = 30;

  /// Returns true if there was a file.
  bool found() const { return descriptor_.is_open(); }

 private:
  Descriptor descriptor_;
};

}  // namespace hios
