#include "hios/flight/record_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "hios/base/error.h"
#include "hios/base/files/output_file.h"

// The file is made under a new name, exclusively, and renamed: neither call follows a link. In a
// folder without the sticky bit somebody else may exchange the new file before it is renamed; the
// text has then gone into a file that is the user's own all the same.
// tests/hios/flight/record_file_test.cpp.
namespace hios::flight {

namespace fs = std::filesystem;

void make_own_folder(const std::string& folder) {
  fs::path made;
  for (const fs::path& part : fs::path(folder)) {
    made /= part;
    ::mkdir(made.c_str(), 0700);  // the last one says below why not
  }
  struct stat status {};
  if (::lstat(folder.c_str(), &status) != 0 || !S_ISDIR(status.st_mode))
    throw InputError(shown(folder) + ": there is no such folder, and it cannot be made");
  if (status.st_uid != ::geteuid()) throw InputError(shown(folder) + ": belongs to another user");
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    throw InputError(shown(folder) + ": others may write there, too");
}

void write_record_file(const std::string& folder, const std::string& name, std::string_view text) {
  const fs::path file = fs::path(folder) / name;
  struct stat status {};
  if (::lstat(file.c_str(), &status) == 0) {
    if (status.st_uid != ::geteuid())
      throw InputError(shown(file) + ": belongs to another user, and is not replaced");
    if (!S_ISREG(status.st_mode) && !S_ISLNK(status.st_mode))
      throw InputError(shown(file) + ": is not a regular file, and is not replaced");
  }
  write_whole(file, file, text, Existing::kReplace);
}

}  // namespace hios::flight
