#include "hios/base/files/file_io.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hios/base/error.h"
#include "hios/base/files/output_file.h"
#include "hios/base/files/streams.h"
#include "hios/base/size_text.h"

namespace hios {
namespace {

namespace fs = std::filesystem;

/// Throws unless the file is regular: a pipe would block, and a device like /dev/zero never ends.
void refuse_unless_regular(const fs::path& file, const struct stat& status) {
  if (S_ISDIR(status.st_mode)) {
    throw InputError(shown(file) + ": is a directory; name a file");
  }
  if (!S_ISREG(status.st_mode)) {
    throw InputError(shown(file) + ": is not a regular file; save its content to one first");
  }
}

}  // namespace

void require_available(const std::string& what, Bytes needed, const ReadLimits& limits) {
  if (!limits.memory || needed <= *limits.memory) return;
  throw InputError(
      what + " at least " + size_text(needed) + " of memory, where " + size_text(*limits.memory) +
      " are available: give the program more memory, or run fewer ranks on this host if "
      "there are several");
}

std::string read_text(const fs::path& file, const ReadLimits& limits) {
  if (is_standard_input(file)) return standard_input(limits);
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0) {
    throw InputError(shown(file) + ": cannot be read: " + system_error());
  }
  refuse_unless_regular(file, status);
  // Non-blocking, in case a pipe has replaced the file since.
  const Descriptor descriptor(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  if (descriptor.get() < 0 || ::fstat(descriptor.get(), &status) != 0) {
    throw InputError(shown(file) + ": cannot be read: " + system_error());
  }
  refuse_unless_regular(file, status);
  const auto size = static_cast<Bytes>(status.st_size);
  refuse_too_large(file, size, limits);
  return read_to_end(descriptor.get(), file, limits, size);
}

void check_writable(const fs::path& file, Existing existing) {
  if (is_standard_output(file)) return;
  const fs::path target = target_of(file, existing);
  std::error_code failure;
  if (!fs::is_directory(folder_of(target), failure)) {
    throw InputError(shown(file) + ": cannot be written: there is no folder " +
                     quote(folder_of(target).string(), 200) + "; make it first");
  }
  // Permission, a read-only file system, no space for a name: only an attempt finds them all.
  const TemporaryFile probe(folder_of(target));
}

void write_text(const fs::path& file, std::string_view text, Existing existing) {
  if (is_standard_output(file)) return write_standard_output(text);
  check_writable(file, existing);
  if (!write_whole(file, target_of(file, existing), text, existing)) refuse_existing(file);
}

}  // namespace hios
