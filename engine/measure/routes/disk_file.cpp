#include "engine/measure/routes/disk_file.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "hios/base/error.h"
#include "hios/base/numbers/random.h"

namespace hios {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const std::string& what) {
  throw RunError(what + ": " + std::strerror(errno));
}

}  // namespace

std::vector<std::string> disk_names_of(const fs::path& folder) {
  struct stat facts {};
  if (stat(folder.c_str(), &facts) != 0 || major(facts.st_dev) == 0) return {};
  const fs::path link = "/sys/dev/block/" + std::to_string(major(facts.st_dev)) + ":" +
                        std::to_string(minor(facts.st_dev));
  std::error_code unknown;
  const fs::path target = fs::read_symlink(link, unknown);
  if (unknown || target.filename().empty()) return {};
  return {target.filename(), target.parent_path().filename()};
}

fs::path new_disk_file_name(const fs::path& folder) {
  const std::string name = ".hios-disk-" + std::to_string(getpid());
  fs::path file = folder / name;
  for (int n = 1; fs::exists(file); ++n) file = folder / (name + "-" + std::to_string(n));
  return file;
}

void create_disk_file(const fs::path& file) {
  const Descriptor made(open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (made.is_open()) return;
  throw InputError(printable(file.parent_path().string(), 200) + ": takes no file (" +
                   std::strerror(errno) + "); name a folder of the disk that may be written");
}

void remove_disk_file(const fs::path& file) { unlink(file.c_str()); }

Descriptor open_direct(const fs::path& file) {
  // New systems accept direct reads of tmpfs, too.
  struct statfs facts {};
  if (statfs(file.c_str(), &facts) != 0 || facts.f_type == TMPFS_MAGIC ||
      facts.f_type == RAMFS_MAGIC)
    return Descriptor(-1);
  return Descriptor(open(file.c_str(), O_RDONLY | O_DIRECT | O_CLOEXEC));
}

Descriptor open_to_fill(const fs::path& file) {
  return Descriptor(open(file.c_str(), O_WRONLY | O_CLOEXEC));
}

Descriptor duplicate(const Descriptor& open_file) {
  return Descriptor(fcntl(open_file.get(), F_DUPFD_CLOEXEC, 0));
}

void fill_disk_file(const Descriptor& open_file, const fs::path& file, Bytes size_bytes) {
  const std::string what = printable(file.string(), 200) + ": cannot write " +
                           std::to_string(size_bytes >> 20) + " MB for measuring the disk";
  std::vector<std::uint64_t> words((Bytes{1} << 20) / sizeof(std::uint64_t));
  Random random(1);
  for (std::uint64_t& word : words) word = random.next();
  for (Bytes done = 0; done < size_bytes;) {
    words[0] = done;  // no two pieces are equal: a disk may keep equal ones once
    const Bytes size = std::min<Bytes>(words.size() * sizeof(std::uint64_t), size_bytes - done);
    const ssize_t written = write(open_file.get(), words.data(), size);
    if (written <= 0) fail(what);
    done += static_cast<Bytes>(written);
  }
  if (fsync(open_file.get()) != 0) fail(what);
}

void read_direct(const Descriptor& open_file, std::byte* to, Bytes size_bytes, Bytes position) {
  for (Bytes done = 0; done < size_bytes;) {
    const ssize_t got =
        pread(open_file.get(), to + done, size_bytes - done, static_cast<off_t>(position + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail("cannot read the file for measuring the disk");
    if (got == 0) throw RunError("the file for measuring the disk has become shorter");
    done += static_cast<Bytes>(got);
  }
}

}  // namespace hios
