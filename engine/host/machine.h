#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "hios/base/ids.h"

namespace hios {

/// The processor's name as the operating system gives it ("AMD EPYC 9R14"); "unknown" where it does
/// not. For provenance only. `root`: where /proc is looked for.
std::string processor_name(const std::filesystem::path& root = "/");

/// The size of the largest cache, in bytes, or 32 MiB where the operating system does not say.
std::size_t last_level_cache_bytes();

/// What may still be allocated before the operating system ends a program for want of memory or
/// refuses it more: by the machine's and the container's (control groups, version 2) account, and
/// by the process's own limit of address space (RLIMIT_AS, `ulimit -v`). Nothing where none says.
std::optional<Bytes> available_memory();

}  // namespace hios
