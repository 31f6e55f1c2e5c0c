#pragma once

#include <string>

namespace hios {

/// The processor's name as the operating system gives it ("AMD EPYC 9R14"); "unknown" where it does
/// not. For provenance only.
std::string processor_name();

/// The size of the largest cache, in bytes, or 32 MiB where the operating system does not say.
std::size_t last_level_cache_bytes();

}  // namespace hios
