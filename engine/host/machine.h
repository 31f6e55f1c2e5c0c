#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

namespace hios {

/// Returns the operating system's name of the processor ("AMD EPYC 9R14"), or "unknown". For
/// provenance only. `root`: the folder of /proc.
std::string processor_name(const std::filesystem::path& root = "/");

/// Returns the size of the largest cache, in bytes, or 32 MiB where the operating system has none.
std::size_t last_level_cache_bytes();

/// Returns the bytes of a core's first-level data cache; 32 KiB if the machine does not say.
std::size_t first_level_cache_bytes();

}  // namespace hios
