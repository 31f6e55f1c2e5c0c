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

}  // namespace hios
