#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "hios/base/error.h"
#include "hios/base/files/file_io.h"

namespace hios {

/// An array of a NumPy .npy file, row-major.
struct NpyArray {
  std::vector<std::int64_t> dims;
  std::vector<float> values;
};

/// A picture where an array is needed.
struct PictureError : InputError {
  using InputError::InputError;
};

/// An array of another size than is needed.
struct ArraySizeError : InputError {
  ArraySizeError(const std::string& text, Bytes needed) : InputError(text), bytes(needed) {}
  Bytes bytes;  ///< of the fp32 values that are needed
};

/// Returns the index of a row-major value as NumPy writes it: "[0, 2, 1]".
std::string index_text(std::size_t at, std::span<const std::int64_t> dims);

/// Reads an array of fp32; of fp16; of fp64, which is rounded; or of integers or truth values.
/// Throws InputError with the file's name: not a regular file, larger than a limit, no .npy file of
/// version 1.0, 2.0 or 3.0, a key that is twice in the header, another type of number, a finite one
/// beyond the range of fp32, an integer beyond 2^24, Fortran order, or a length that contradicts
/// the header; a PictureError for a picture.
NpyArray read_npy(const std::filesystem::path& file, const ReadLimits& limits);

/// Reads a row-major array of these extents: raw little-endian fp32 from a file NAME.bin, else an
/// .npy file. Throws InputError, an ArraySizeError where the file holds another size; `wanted`
/// begins the size in its text: "the model takes".
std::vector<float> read_array(const std::filesystem::path& file, std::span<const std::int64_t> dims,
                              const std::string& wanted, const ReadLimits& limits);

/// Writes an array of fp32, whole or not at all.
void write_npy(const std::filesystem::path& file, std::span<const std::int64_t> dims,
               std::span<const float> values, Existing existing);

}  // namespace hios
