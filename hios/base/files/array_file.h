#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "hios/base/files/file_io.h"

namespace hios {

/// Reads a row-major array of these extents: raw little-endian fp32 from a file NAME.bin, an .npy
/// file (read_npy) otherwise. Throws InputError, where the file holds an array of another size with
/// need::ArrayOf; `wanted` begins the size in its message: "the model takes".
std::vector<float> read_array(const std::filesystem::path& file, std::span<const std::int64_t> dims,
                              const std::string& wanted, const ReadLimits& limits);

}  // namespace hios
