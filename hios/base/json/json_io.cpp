// The file door: how bytes get from a file into a string and from a string into a file.

#include "hios/base/json/json_io.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "hios/base/error.h"
#include "hios/base/files/file_lock.h"
#include "hios/base/files/output_file.h"
#include "hios/base/need.h"

namespace hios {
namespace {

namespace fs = std::filesystem;

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
                   need::LargerInput{});
}

}  // namespace

std::string read_text(const fs::path& file, const ReadLimits& limits) {
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

Json read_json(const fs::path& file, const ReadLimits& limits) {
  return parse_json(read_text(file, limits), file.string(), limits);
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

namespace {

/// `target`: what is really written. False: a file of that name has appeared that may not be
/// replaced.
bool try_to_write(const fs::path& file, const fs::path& target, std::string_view text,
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

}  // namespace

void write_text(const fs::path& file, std::string_view text, Existing existing) {
  check_writable(file, existing);
  if (!try_to_write(file, target_of(file, existing), text, existing)) refuse_existing(file);
}

void write_json(const fs::path& file, const Json& json, Existing existing) {
  write_text(file, to_text(json), existing);
}

void update_json(const fs::path& file, const ReadLimits& limits,
                 const std::function<Json(const Json* now)>& change) {
  check_writable(file, Existing::kReplace);
  for (bool written = false; !written;) {
    const fs::path target = target_of(file, Existing::kReplace);
    const FileLock lock(target);
    if (lock.found()) {
      const Json now = read_json(file, limits);
      written = try_to_write(file, target, to_text(change(&now)), Existing::kReplace);
    } else {
      // Somebody else may be making it, too: who comes second grows what the first has made.
      written = try_to_write(file, target, to_text(change(nullptr)), Existing::kRefuse);
    }
  }
}

}  // namespace hios
