#include "hios/base/files/output_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>

#include "hios/base/error.h"
#include "hios/base/need.h"

// A writer makes a file of its own, fills it, syncs it to the disk, and gives it its name by one
// system call. A reader sees the old file or the new one. A killed writer leaves at most a file
// ".hios-…" whose lock nobody holds.
// Tests: tests/hios/base/files/output_file_test.cpp; tests/cli/programs/files/files_test.cpp kills
// real programs.
namespace hios {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kTemporary = ".hios-";
constexpr std::time_t kAbandonedSeconds = 600;
// The number of links that the kernel follows.
constexpr int kMostLinks = 40;

/// Reads the status of the path itself, links not followed. Returns false where nothing is there.
bool status_of(const fs::path& file, struct stat& status) {
  if (::lstat(file.c_str(), &status) == 0) return true;
  if (errno == ENOENT) return false;
  throw InputError(shown(file) + ": cannot be written: " + system_error());
}

/// Returns true for a name in /proc, which holds links to the process's open files. Such a name
/// means a stream: to replace the regular file that it may lead to would leave the stream without
/// one.
bool is_stream(const fs::path& file) {
  std::error_code failure;
  const fs::path folder = fs::canonical(folder_of(file), failure);
  return !failure && folder.begin() != folder.end() && std::next(folder.begin()) != folder.end() &&
         *std::next(folder.begin()) == "proc";
}

/// Returns true if the path is a link whose chain leads through a stream.
bool leads_to_stream(fs::path file) {
  for (int i = 0; i < kMostLinks; ++i) {
    std::error_code failure;
    if (is_stream(file)) return fs::exists(file, failure);
    const fs::path next = fs::read_symlink(file, failure);
    if (failure) return false;
    file = folder_of(file) / next;  // an absolute one replaces the folder
  }
  return false;
}

bool is_temporary(const std::string& name) {
  return name.starts_with(kTemporary) && name.size() > kTemporary.size() &&
         name.find_first_not_of("0123456789-", kTemporary.size()) == std::string::npos;
}

/// Returns true if the writer is gone for certain. A lock that somebody holds, or a file system
/// without locks, proves nothing.
bool abandoned(const fs::path& file) {
  const Descriptor descriptor(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat status {};
  return descriptor.is_open() && ::fstat(descriptor.get(), &status) == 0 &&
         S_ISREG(status.st_mode) && std::time(nullptr) - status.st_mtime > kAbandonedSeconds &&
         ::flock(descriptor.get(), LOCK_EX | LOCK_NB) == 0;
}

}  // namespace

std::string shown(const fs::path& file) { return printable(file.string(), 200); }

std::string system_error() { return std::strerror(errno); }

fs::path folder_of(const fs::path& file) {
  return file.has_parent_path() ? file.parent_path() : fs::path(".");
}

void refuse_existing(const fs::path& file) {
  throw InputError(shown(file) + ": exists; name another file", need::Replacement{});
}

fs::path target_of(const fs::path& file, Existing existing) {
  if (!file.has_filename()) {
    throw InputError(quote(file.string(), 200) + ": is no file name to write to");
  }
  struct stat status {};
  if (!status_of(file, status)) return file;
  std::error_code failure;
  if (fs::is_directory(file, failure)) {
    throw InputError(shown(file) + ": is a directory; name a file in it");
  }
  // Replacing a device or a pipe would remove it: /dev/null must not be, even where it may.
  if ((fs::exists(file, failure) && !fs::is_regular_file(file, failure)) || leads_to_stream(file))
    throw InputError(shown(file) + ": is not a regular file and is not replaced; name another");
  if (existing == Existing::kRefuse) refuse_existing(file);
  const fs::path target = fs::canonical(file, failure);
  if (failure) {
    throw InputError(shown(file) + ": is a link that leads nowhere (" + failure.message() +
                     "), not a regular file, and is not replaced; name another");
  }
  if (::access(target.c_str(), W_OK) != 0) {
    throw InputError(shown(file) + ": may not be replaced: " + system_error());
  }
  return target;
}

bool write_whole(const fs::path& file, const fs::path& target, std::string_view text,
                 Existing existing) {
  remove_abandoned(folder_of(target));
  TemporaryFile temporary(folder_of(target));
  if (!temporary.write(text) || !temporary.publish(target, existing)) {
    if (errno == EEXIST) return false;
    throw RunError(shown(file) + ": cannot be written: " + system_error());
  }
  sync_folder(folder_of(target));
  return true;
}

TemporaryFile::TemporaryFile(const fs::path& folder) : descriptor_(create(folder)) {
  ::flock(descriptor_.get(), LOCK_EX | LOCK_NB);  // without it the file is only never tidied away
}

TemporaryFile::~TemporaryFile() {
  if (!published_) ::unlink(path_.c_str());
}

int TemporaryFile::create(const fs::path& folder) {
  for (int attempt = 0; attempt < 1000; ++attempt) {
    path_ = folder /
            (std::string(kTemporary) + std::to_string(::getpid()) + "-" + std::to_string(attempt));
    const int descriptor = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor >= 0) return descriptor;
    if (errno != EEXIST) break;
  }
  throw InputError(shown(folder) + ": no file can be written there: " + system_error());
}

bool TemporaryFile::write(std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(descriptor_.get(), text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  // Some file systems (network, user space) have no fsync; the data is written all the same.
  return ::fsync(descriptor_.get()) == 0 || errno == EINVAL || errno == ENOTSUP;
}

bool TemporaryFile::publish(const fs::path& target, Existing existing) {
  struct stat old {};
  if (existing == Existing::kReplace) {
    if (::lstat(target.c_str(), &old) == 0 && S_ISREG(old.st_mode))
      ::fchmod(descriptor_.get(), old.st_mode & 0777);
    if (!descriptor_.close()) return false;
    published_ = ::rename(path_.c_str(), target.c_str()) == 0;
    return published_;
  }
  if (!descriptor_.close()) return false;
  published_ =
      ::renameat2(AT_FDCWD, path_.c_str(), AT_FDCWD, target.c_str(), RENAME_NOREPLACE) == 0;
  if (published_ || (errno != EINVAL && errno != ENOSYS)) return published_;
  // NFS and others have no such rename, but refuse a hard link to a name that is taken.
  return ::link(path_.c_str(), target.c_str()) == 0;
}

void remove_abandoned(const fs::path& folder) {
  std::error_code failure;
  for (fs::directory_iterator at(folder, failure), end; !failure && at != end;
       at.increment(failure)) {
    if (is_temporary(at->path().filename()) && abandoned(at->path())) ::unlink(at->path().c_str());
  }
}

void sync_folder(const fs::path& folder) {
  const Descriptor descriptor(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (descriptor.is_open()) ::fsync(descriptor.get());
}

}  // namespace hios
