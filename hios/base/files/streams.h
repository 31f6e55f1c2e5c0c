#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "hios/base/files/file_io.h"

/// Standard input and output as files. read_text(), check_writable() and write_text() know them by
/// the two names below, which their messages show, too. A file of such a name in the working folder
/// is "./standard input".
namespace hios {

inline constexpr std::string_view kStandardInput = "standard input";
inline constexpr std::string_view kStandardOutput = "standard output";

bool is_standard_input(const std::filesystem::path& file);
bool is_standard_output(const std::filesystem::path& file);

/// Returns all of standard input. The first call reads it to its end, and later calls return the
/// same text: a stream can be read once. Throws InputError: nothing there, more than
/// limits.max_bytes, or no permission. Not thread-safe.
const std::string& standard_input(const ReadLimits& limits);

/// Sets the text that standard_input() returns, where another process has read it.
void set_standard_input(std::string text);

/// Writes all of the text. Throws RunError where the system fails (disk full).
void write_standard_output(std::string_view text);

/// Returns the bytes of an open file or stream, to its end. `file`: its name, for messages;
/// `expected`: its size, if that is known. Throws InputError: it cannot be read, or is larger than
/// limits.max_bytes.
std::string read_to_end(int descriptor, const std::filesystem::path& file, const ReadLimits& limits,
                        Bytes expected = 0);

/// Throws the InputError of a file of more than limits.max_bytes.
void refuse_too_large(const std::filesystem::path& file, Bytes size, const ReadLimits& limits);

}  // namespace hios
