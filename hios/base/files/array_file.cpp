#include "hios/base/files/array_file.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <system_error>
#include <utility>

#include "hios/base/error.h"
#include "hios/base/files/npy.h"
#include "hios/base/need.h"

namespace hios {
namespace {

std::string extents_text(std::span<const std::int64_t> extents) {
  std::string text;
  for (const std::int64_t extent : extents)
    text += (text.empty() ? "" : "x") + std::to_string(extent);
  return text.empty() ? "a single value" : text;
}

Bytes bytes_of(std::span<const std::int64_t> dims) {
  Bytes bytes = sizeof(float);
  for (const std::int64_t extent : dims) bytes *= static_cast<Bytes>(extent);
  return bytes;
}

[[noreturn]] void refuse(const std::string& name, const std::string& holds,
                         std::span<const std::int64_t> dims, const std::string& wanted) {
  const Bytes bytes = bytes_of(dims);
  throw InputError(name + ": holds " + holds + " where " + wanted + " " + extents_text(dims) +
                       " (float32, " + std::to_string(bytes) + " bytes)",
                   need::ArrayOf{bytes});
}

// The file is refused by its size, unread; a file without one, such as a pipe, by read_text().
std::vector<float> read_raw(const std::filesystem::path& file, std::span<const std::int64_t> dims,
                            const std::string& wanted, const ReadLimits& limits) {
  static_assert(std::endian::native == std::endian::little, "files are little-endian");
  const std::string name = printable(file.string(), 200);
  std::error_code unknown;
  const std::uintmax_t size = std::filesystem::file_size(file, unknown);
  if (!unknown && size != bytes_of(dims))
    refuse(name, std::to_string(size) + " bytes", dims, wanted);
  if (!unknown) require_available(name + ": reading it takes", 2 * Bytes{size}, limits);
  const std::string text = read_text(file, {.max_bytes = limits.max_weights_bytes});
  if (text.size() != bytes_of(dims))
    refuse(name, std::to_string(text.size()) + " bytes", dims, wanted);
  std::vector<float> values(text.size() / sizeof(float));
  if (!values.empty()) std::memcpy(values.data(), text.data(), text.size());
  return values;
}

}  // namespace

std::vector<float> read_array(const std::filesystem::path& file, std::span<const std::int64_t> dims,
                              const std::string& wanted, const ReadLimits& limits) {
  if (file.extension() == ".bin") return read_raw(file, dims, wanted, limits);
  NpyArray array = read_npy(file, limits);
  if (!std::ranges::equal(array.dims, dims))
    refuse(printable(file.string(), 200), extents_text(array.dims), dims, wanted);
  return std::move(array.values);
}

}  // namespace hios
