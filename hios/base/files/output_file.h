#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "hios/base/files/descriptor.h"
#include "hios/base/files/file_io.h"

/// The steps by which a file is written whole or not at all; write_text and update_json use them.
namespace hios {

/// Returns the file's name for messages, as the user wrote it.
std::string shown(const std::filesystem::path& file);
/// Returns the text of the system's last error (errno).
std::string system_error();

std::filesystem::path folder_of(const std::filesystem::path& file);

/// Returns the file that is really written: for a link, the file that it points to. Throws
/// InputError where it may not be written: it exists and may not be replaced, or it is no regular
/// file.
std::filesystem::path target_of(const std::filesystem::path& file, Existing existing);

/// Throws the InputError of a file that exists and may not be replaced.
[[noreturn]] void refuse_existing(const std::filesystem::path& file);

/// Writes the text to `target`, which target_of() found for `file`. Follows no link: one at that
/// name is replaced itself. Returns false where a file of that name has appeared that may not be
/// replaced. Throws RunError where the system fails.
bool write_whole(const std::filesystem::path& file, const std::filesystem::path& target,
                 std::string_view text, Existing existing);

/// A new file in the folder of the file to be written, removed by the destructor unless it was
/// published. It is locked while its writer lives. By the lock, writers on any host and in any
/// container recognise a file that a killed writer has left, and remove it.
class TemporaryFile {
 public:
  /// Throws InputError where the folder takes no new file.
  explicit TemporaryFile(const std::filesystem::path& folder);
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  /// Writes all of the text to the disk. Returns false with errno set where the system refuses.
  bool write(std::string_view text);
  /// Gives the file its name in one step, and the permissions of the file that it replaces. With
  /// kRefuse the system itself refuses a file of that name that has appeared meanwhile (EEXIST), so
  /// two programs cannot both believe that they made it. Returns false with errno set on failure.
  bool publish(const std::filesystem::path& target, Existing existing);

 private:
  int create(const std::filesystem::path& folder);

  std::filesystem::path path_;
  Descriptor descriptor_;
  bool published_ = false;
};

/// Removes temporary files that killed writers left in a folder: nobody holds their lock, and they
/// were not touched for ten minutes. A file that the system does not allow to remove stays.
void remove_abandoned(const std::filesystem::path& folder);

/// Makes a new name itself survive a power cut, where the file system can.
void sync_folder(const std::filesystem::path& folder);

}  // namespace hios
