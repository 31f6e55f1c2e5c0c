#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "hios/base/json/json_io.h"

namespace hios {

/// An array as NumPy's .npy files hold it, row-major.
struct NpyArray {
  std::vector<std::int64_t> dims;
  std::vector<float> values;
};

/// Reads fp32, or fp64, which is rounded. Throws InputError with the file's name: not a regular
/// file or larger than the limit, no .npy file, other numbers, Fortran order, or a length that is
/// not what its header says.
NpyArray read_npy(const std::filesystem::path& file, const ReadLimits& limits);

/// Writes fp32, whole or not at all.
void write_npy(const std::filesystem::path& file, std::span<const std::int64_t> dims,
               std::span<const float> values, Existing existing);

}  // namespace hios
