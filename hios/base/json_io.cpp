// The file door: how bytes get from a file into a string and from a string into a file.

#include "hios/base/json_io.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "hios/base/error.h"

namespace hios {
namespace {

namespace fs = std::filesystem;

/// Messages name files as the user did.
std::string shown(const fs::path& file) { return printable(file.string(), 200); }

std::string system_error() { return std::strerror(errno); }

/// A file descriptor, closed at the end.
class Descriptor {
 public:
  explicit Descriptor(int value) : value_(value) {}
  ~Descriptor() {
    if (value_ >= 0) ::close(value_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return value_; }
  /// Closes now; false where the system reports a late write error.
  bool close() { return ::close(std::exchange(value_, -1)) == 0; }

 private:
  int value_;
};

/// A pipe would block, a device like /dev/zero never ends: neither is opened.
void refuse_unless_regular(const fs::path& file, const struct stat& status) {
  if (S_ISDIR(status.st_mode)) {
    throw InputError(shown(file) + ": is a directory; name a file");
  }
  if (!S_ISREG(status.st_mode)) {
    throw InputError(shown(file) + ": is not a regular file; save its content to one first");
  }
}

void refuse_too_large(const fs::path& file, Bytes size, const ReadLimits& limits) {
  if (size <= limits.max_bytes) return;
  throw InputError(shown(file) + ": " + std::to_string(size) + " bytes, more than the " +
                       std::to_string(limits.max_bytes) + " that are read",
                   Need{"larger-input"});
}

std::string read_file(const fs::path& file, const ReadLimits& limits) {
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0) {
    throw InputError(shown(file) + ": cannot be read: " + system_error());
  }
  refuse_unless_regular(file, status);
  // Non-blocking, in case a pipe has taken the place of the file since.
  const Descriptor descriptor(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  if (descriptor.get() < 0 || ::fstat(descriptor.get(), &status) != 0) {
    throw InputError(shown(file) + ": cannot be read: " + system_error());
  }
  refuse_unless_regular(file, status);
  refuse_too_large(file, static_cast<Bytes>(status.st_size), limits);

  std::string text;
  text.reserve(static_cast<std::size_t>(status.st_size));
  char block[1 << 16];
  for (;;) {
    const ssize_t count = ::read(descriptor.get(), block, sizeof block);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw InputError(shown(file) + ": cannot be read: " + system_error());
    if (count == 0) return text;
    text.append(block, static_cast<std::size_t>(count));
    refuse_too_large(file, text.size(), limits);
  }
}

fs::path folder_of(const fs::path& file) {
  return file.has_parent_path() ? file.parent_path() : fs::path(".");
}

/// What stands at the path now, links not followed; false: nothing.
bool look_at(const fs::path& file, struct stat& status) {
  if (::lstat(file.c_str(), &status) == 0) return true;
  if (errno == ENOENT) return false;
  throw InputError(shown(file) + ": cannot be written: " + system_error());
}

[[noreturn]] void refuse_existing(const fs::path& file) {
  throw InputError(shown(file) + ": exists; name another file", Need{"replacement"});
}

/// The file that is really written: of a link what it points to. Throws where it must not be.
fs::path target_of(const fs::path& file, Existing existing) {
  if (!file.has_filename()) {
    throw InputError(quote(file.string(), 200) + ": is no file name to write to");
  }
  struct stat status {};
  if (!look_at(file, status)) return file;
  if (S_ISDIR(status.st_mode)) {
    throw InputError(shown(file) + ": is a directory; name a file in it");
  }
  if (existing == Existing::kRefuse) refuse_existing(file);
  std::error_code failure;
  const fs::path target = fs::canonical(file, failure);
  // Replacing a device or a pipe would remove it: /dev/null must not be, even where it may.
  if (failure || !fs::is_regular_file(target, failure)) {
    throw InputError(shown(file) + ": is not a regular file and is not replaced; name another");
  }
  return target;
}

/// A new file beside the one to be written; removed at the end unless it was published.
class TemporaryFile {
 public:
  explicit TemporaryFile(const fs::path& folder) : descriptor_(create(folder)) {}
  ~TemporaryFile() {
    if (!published_) ::unlink(path_.c_str());
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  /// False with errno set where the system refuses.
  bool write(std::string_view text) {
    while (!text.empty()) {
      const ssize_t count = ::write(descriptor_.get(), text.data(), text.size());
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return false;
      text.remove_prefix(static_cast<std::size_t>(count));
    }
    return ::fsync(descriptor_.get()) == 0 && descriptor_.close();
  }

  /// Gives the file its name in one step. A file of that name that has appeared meanwhile is
  /// refused by the system itself, so two programs cannot both believe that they made it.
  bool publish(const fs::path& target, Existing existing) {
    if (existing == Existing::kReplace) {
      published_ = ::rename(path_.c_str(), target.c_str()) == 0;
      return published_;
    }
    published_ =
        ::renameat2(AT_FDCWD, path_.c_str(), AT_FDCWD, target.c_str(), RENAME_NOREPLACE) == 0;
    if (published_ || (errno != EINVAL && errno != ENOSYS)) return published_;
    // NFS and others know no such rename, but refuse a link to a name that is taken.
    return ::link(path_.c_str(), target.c_str()) == 0;
  }

 private:
  int create(const fs::path& folder) {
    for (int attempt = 0; attempt < 1000; ++attempt) {
      path_ = folder / (".hios-" + std::to_string(::getpid()) + "-" + std::to_string(attempt));
      const int descriptor = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
      if (descriptor >= 0) return descriptor;
      if (errno != EEXIST) break;
    }
    throw InputError(shown(folder) + ": no file can be written there: " + system_error());
  }

  fs::path path_;
  Descriptor descriptor_;
  bool published_ = false;
};

/// Makes the new name itself survive a power cut; not every file system can be asked to.
void sync_folder(const fs::path& folder) {
  const Descriptor descriptor(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (descriptor.get() >= 0) ::fsync(descriptor.get());
}

}  // namespace

Json read_json(const fs::path& file, const ReadLimits& limits) {
  return parse_json(read_file(file, limits), file.string(), limits);
}

void check_writable(const fs::path& file, Existing existing) {
  const fs::path target = target_of(file, existing);
  std::error_code failure;
  if (!fs::is_directory(folder_of(target), failure)) {
    throw InputError(shown(file) + ": cannot be written: there is no folder " +
                     quote(folder_of(target).string(), 200) + "; make it first");
  }
  // Permission, a read-only file system, no space for a name: only trying tells them all.
  const TemporaryFile probe(folder_of(target));
}

void write_text(const fs::path& file, std::string_view text, Existing existing) {
  check_writable(file, existing);
  const fs::path target = target_of(file, existing);
  TemporaryFile temporary(folder_of(target));
  if (!temporary.write(text)) {
    throw RunError(shown(file) + ": cannot be written: " + system_error());
  }
  if (!temporary.publish(target, existing)) {
    if (errno == EEXIST) refuse_existing(file);
    throw RunError(shown(file) + ": cannot be written: " + system_error());
  }
  sync_folder(folder_of(target));
}

void write_json(const fs::path& file, const Json& json, Existing existing) {
  write_text(file, to_text(json), existing);
}

}  // namespace hios
