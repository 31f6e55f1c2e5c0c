#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "hios/base/ids.h"

/// The only door to files: reading within limits, writing whole or not at all. Each message is an
/// InputError that names the file and the remedy.
namespace hios {

struct ReadLimits {
  Bytes max_bytes = 32ull << 20;  ///< a larger file is refused by its size, unread
  /// The limit of a file that holds weights and of the files next to it, together.
  Bytes max_weights_bytes = 2ull << 30;
  int max_depth = 64;  ///< deeper nesting of JSON is refused while parsing
  /// The memory that weights and arrays may take while they are read; empty: no limit.
  std::optional<Bytes> memory = {};
};

/// Throws InputError where a step needs more than limits.memory. `what` begins the message:
/// "f.npy: reading it takes".
void require_available(const std::string& what, Bytes needed, const ReadLimits& limits);

/// Returns the bytes of a regular file (links are followed), or of standard input
/// (hios/base/files/streams.h). Throws InputError: missing,
/// unreadable, no regular file, or larger than the limit.
std::string read_text(const std::filesystem::path& file, const ReadLimits& limits);

/// The fate of a file that exists already.
enum class Existing { kRefuse, kReplace };

/// Throws InputError if `file` could not be written now (no such folder, no permission, exists and
/// may not be replaced); standard output always can. Called before any work, so that hours of
/// measuring are not lost at the end.
void check_writable(const std::filesystem::path& file, Existing existing);

/// Writes a temporary file next to `file`, syncs and renames it: a reader sees the old file or the
/// new one, whole. With kRefuse, of two writers at the same time one gets the InputError. For a
/// link, the file that it points to is replaced; only regular files are, and they keep their
/// permissions. Throws RunError where the system fails (disk full).
void write_text(const std::filesystem::path& file, std::string_view text, Existing existing);

}  // namespace hios
