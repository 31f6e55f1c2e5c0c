#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "hios/base/files/descriptor.h"
#include "hios/base/files/direct_file.h"
#include "hios/base/ids.h"

/// A file for measuring how fast a disk is read, past the system's page cache.
namespace hios {

/// Returns the names under which the operating system knows the disk of a folder, from the part to
/// the whole ("nvme0n1p2", "nvme0n1"); empty where the folder is on none, as in most containers.
std::vector<std::string> disk_names_of(const std::filesystem::path& folder);
/// Returns the same for a block device from the folder that sysfs has of it: a partition is part of
/// its disk, and a volume (LVM, dm-crypt) lies on another device; on several, it is the last name.
std::vector<std::string> block_device_names(const std::filesystem::path& described);

/// Returns a name in the folder that no file has.
std::filesystem::path new_disk_file_name(const std::filesystem::path& folder);

/// Makes the file with one page, which shows how it can be read. Throws InputError where the folder
/// takes no file.
void create_disk_file(const std::filesystem::path& file);
void remove_disk_file(const std::filesystem::path& file);

/// Fills the file with bytes that no disk can leave out, and waits until the disk has them. Throws
/// RunError where it takes fewer (a full disk). `file`: its name for messages.
void fill_disk_file(const Descriptor& open_file, const std::filesystem::path& file,
                    Bytes size_bytes);
/// Opens the file for fill_disk_file().
Descriptor open_to_fill(const std::filesystem::path& file);

/// Returns true if direct reads are seen to fill the system's page cache: some file systems accept
/// them, and yet read through it. REQUIRES: the first page is on the disk.
bool fills_cache(const DirectFile& file);

}  // namespace hios
