#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "hios/base/ids.h"

namespace hios {

/// Returns the operating system's name of the processor ("AMD EPYC 9R14"), or "unknown". For
/// provenance only. `root`: the folder of /proc.
std::string processor_name(const std::filesystem::path& root = "/");

/// Returns the size of the largest cache, in bytes, or 32 MiB where the operating system has none.
std::size_t last_level_cache_bytes();

/// Returns the bytes that can still be allocated before the operating system ends a program or
/// refuses memory: by the machine's and the container's (control groups, version 2) account, and by
/// the process's own limit of address space (RLIMIT_AS, `ulimit -v`). Empty where there is no
/// limit.
std::optional<Bytes> available_memory();

}  // namespace hios
