#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "hios/base/files/descriptor.h"
#include "hios/base/json/json_io.h"

/// How a file comes to be written whole or not at all; behind write_text and its kin.
namespace hios {

/// Messages name files as the user did.
std::string shown(const std::filesystem::path& file);
/// What the system's last error was, in its words.
std::string system_error();

std::filesystem::path folder_of(const std::filesystem::path& file);

/// The file that is really written: of a link what it points to. Throws InputError where that must
/// not be: it exists and may not be replaced, or it is no regular file.
std::filesystem::path target_of(const std::filesystem::path& file, Existing existing);

/// Throws the InputError of a file that exists and may not be replaced.
[[noreturn]] void refuse_existing(const std::filesystem::path& file);

/// A new file beside the one to be written; removed at the end unless it was published. It is
/// locked while its writer lives: what a killed writer has left behind can be told by that, by
/// whichever host and container, and is removed by those who write to the folder later.
class TemporaryFile {
 public:
  /// Throws InputError where the folder takes no new file.
  explicit TemporaryFile(const std::filesystem::path& folder);
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  /// All of the text, on the disk. False with errno set where the system refuses.
  bool write(std::string_view text);
  /// Gives the file its name in one step, and the permissions of the file that it replaces. With
  /// kRefuse a file of that name that has appeared meanwhile is refused by the system itself
  /// (EEXIST), so two programs cannot both believe that they made it. False with errno set.
  bool publish(const std::filesystem::path& target, Existing existing);

 private:
  int create(const std::filesystem::path& folder);

  std::filesystem::path path_;
  Descriptor descriptor_;
  bool published_ = false;
};

/// Removes what killed writers left in a folder: temporary files that nobody holds and that were
/// not touched for ten minutes. What the system does not allow stays.
void remove_abandoned(const std::filesystem::path& folder);

/// Makes a new name itself survive a power cut; not every file system can be asked to.
void sync_folder(const std::filesystem::path& folder);

}  // namespace hios
