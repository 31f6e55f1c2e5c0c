#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "hios/base/files/file_io.h"

namespace hios {

/// An array of a NumPy .npy file, row-major.
struct NpyArray {
  std::vector<std::int64_t> dims;
  std::vector<float> values;
};

/// Reads an array of fp32, or of fp64, which is rounded. Throws InputError with the file's name:
/// not a regular file, larger than a limit, no .npy file of version 1.0, 2.0 or 3.0, a key that
/// is twice in the header, another type of number, a finite one beyond the range of fp32, Fortran
/// order, or a length that contradicts the header.
NpyArray read_npy(const std::filesystem::path& file, const ReadLimits& limits);

/// Writes an array of fp32, whole or not at all.
void write_npy(const std::filesystem::path& file, std::span<const std::int64_t> dims,
               std::span<const float> values, Existing existing);

}  // namespace hios
