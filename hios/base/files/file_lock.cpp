#include "hios/base/files/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>
#include <chrono>
#include <thread>

#include "hios/base/error.h"
#include "hios/base/files/output_file.h"
#include "hios/base/log.h"

namespace hios {
namespace {

namespace fs = std::filesystem;

constexpr double kPauseSeconds = 0.005;

/// Opens the file for writing if possible: network file systems lock only such files.
Descriptor open_for_lock(const fs::path& file) {
  Descriptor descriptor(::open(file.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK));
  if (descriptor.is_open() || errno == ENOENT) return descriptor;
  return Descriptor(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
}

/// Returns true if the name still belongs to the file that was opened.
bool is_still(const fs::path& file, const Descriptor& descriptor) {
  struct stat named {
  }, opened{};
  return ::stat(file.c_str(), &named) == 0 && ::fstat(descriptor.get(), &opened) == 0 &&
         named.st_dev == opened.st_dev && named.st_ino == opened.st_ino;
}

}  // namespace

FileLock::FileLock(const fs::path& file, double limit_s) : descriptor_(open_for_lock(file)) {
  double waited_s = 0;  // the sum of the pauses: no clock is needed here
  while (descriptor_.is_open()) {
    if (::flock(descriptor_.get(), LOCK_EX | LOCK_NB) == 0) {
      if (is_still(file, descriptor_)) return;
      descriptor_ = open_for_lock(file);
    } else if (errno == EWOULDBLOCK) {
      if (waited_s > limit_s) {
        throw RunError(shown(file) + ": another program has been writing it for " +
                       std::to_string(static_cast<int>(limit_s)) + " s");
      }
      std::this_thread::sleep_for(std::chrono::duration<double>(kPauseSeconds));
      waited_s += kPauseSeconds;
    } else if (errno != EINTR) {
      log::warning(shown(file) + ": cannot be locked here (" + system_error() +
                   "): if another program updates it at this moment, its measurements are lost");
      return;
    }
  }
  if (errno != ENOENT) throw RunError(shown(file) + ": cannot be opened: " + system_error());
}

}  // namespace hios
