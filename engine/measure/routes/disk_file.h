#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "hios/base/files/descriptor.h"
#include "hios/base/ids.h"

/// A file for measuring how fast a disk is read, past the system's page cache.
namespace hios {

/// Positions, sizes and addresses of direct reads are multiples of this.
inline constexpr Bytes kDirectAlignment = 4096;

/// Returns the names under which the operating system knows the disk of a folder, from the part to
/// the whole ("nvme0n1p2", "nvme0n1"); empty where the folder is on none, as in most containers.
std::vector<std::string> disk_names_of(const std::filesystem::path& folder);

/// Returns a name in the folder that no file has.
std::filesystem::path new_disk_file_name(const std::filesystem::path& folder);

/// Makes the file, empty. Throws InputError where the folder takes no file.
void create_disk_file(const std::filesystem::path& file);
void remove_disk_file(const std::filesystem::path& file);

/// Opens a file for direct reads; none where its file system has none, or keeps files in memory
/// (tmpfs).
Descriptor open_direct(const std::filesystem::path& file);

/// Returns another descriptor of an open file.
Descriptor duplicate(const Descriptor& open_file);

/// Fills the file with bytes that no disk can leave out, and waits until the disk has them. Throws
/// RunError where it takes fewer (a full disk). `file`: its name for messages.
void fill_disk_file(const Descriptor& open_file, const std::filesystem::path& file,
                    Bytes size_bytes);
/// Opens the file for fill_disk_file().
Descriptor open_to_fill(const std::filesystem::path& file);

/// Reads a piece directly. Throws RunError where the disk fails. REQUIRES: all are aligned, and
/// within the file.
void read_direct(const Descriptor& open_file, std::byte* to, Bytes size_bytes, Bytes position);

}  // namespace hios
