#include "engine/measure/routes/disk_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>

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
  return block_device_names("/sys/dev/block/" + std::to_string(major(facts.st_dev)) + ":" +
                            std::to_string(minor(facts.st_dev)));
}

std::vector<std::string> block_device_names(const fs::path& described) {
  constexpr std::size_t kMostNames = 16;
  std::vector<std::string> names;
  std::error_code unknown;
  fs::path device = fs::canonical(described, unknown);
  while (!unknown && names.size() < kMostNames) {
    names.push_back(device.filename());
    if (fs::exists(device / "partition", unknown)) {
      device = device.parent_path();
      continue;
    }
    // A device made of several others is none of them.
    std::vector<fs::path> parts;
    for (const auto& part : fs::directory_iterator(device / "slaves", unknown))
      parts.push_back(part.path());
    if (unknown || parts.size() != 1) break;
    device = fs::canonical(parts.front(), unknown);
  }
  return names;
}

fs::path new_disk_file_name(const fs::path& folder) {
  const std::string name = ".hios-disk-" + std::to_string(getpid());
  fs::path file = folder / name;
  for (int n = 1; fs::exists(file); ++n) file = folder / (name + "-" + std::to_string(n));
  return file;
}

void create_disk_file(const fs::path& file) {
  const Descriptor made(open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  const std::array<char, DirectFile::kAlignment> page{};
  if (made.is_open() && write(made.get(), page.data(), page.size()) == ssize_t{page.size()}) return;
  const std::string reason = made.is_open() ? "it is full" : std::strerror(errno);
  if (made.is_open()) remove_disk_file(file);
  throw InputError(printable(file.parent_path().string(), 200) + ": takes no file (" + reason +
                   "); name a folder of the disk that may be written");
}

void remove_disk_file(const fs::path& file) { unlink(file.c_str()); }

Descriptor open_to_fill(const fs::path& file) {
  return Descriptor(open(file.c_str(), O_WRONLY | O_CLOEXEC));
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

bool fills_cache(const DirectFile& file) {
  file.drop_cached();
  if (file.cached_bytes() > 0) return false;  // other programs, or a system that does not tell
  const std::unique_ptr<std::byte, decltype(&std::free)> page(
      static_cast<std::byte*>(std::aligned_alloc(DirectFile::kAlignment, DirectFile::kAlignment)),
      &std::free);
  if (!page) return false;
  file.read(page.get(), 0, DirectFile::kAlignment, DirectFile::kAlignment);
  return file.cached_bytes() > 0;
}

}  // namespace hios
