#include "hios/base/json/json_io.h"

#include <nlohmann/json.hpp>

#include "hios/base/files/file_lock.h"
#include "hios/base/files/output_file.h"

namespace hios {

namespace fs = std::filesystem;

Json read_json(const fs::path& file, const ReadLimits& limits) {
  return parse_json(read_text(file, limits), file.string(), limits);
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
      written = write_whole(file, target, to_text(change(&now)), Existing::kReplace);
    } else {
      // Another program may make it at the same time: the second one grows the file of the first.
      written = write_whole(file, target, to_text(change(nullptr)), Existing::kRefuse);
    }
  }
}

}  // namespace hios
