#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "hios/base/files/file_io.h"

/// Headers of files in the safetensors format: the length of the header (8 bytes, little-endian),
/// the header as JSON, which gives each tensor's name, type, shape and bytes, then the tensors'
/// bytes without gaps, in any order.
namespace hios::safetensors {

inline constexpr std::size_t kLengthBytes = 8;

struct Tensor {
  std::string name;
  std::string type;  ///< "F32", "U8"
  std::vector<std::int64_t> shape;
  std::uint64_t begin = 0, end = 0;  ///< its bytes, counted from the end of the header
  std::uint64_t size_bytes() const { return end - begin; }
};

struct Header {
  std::map<std::string, std::string> metadata;
  std::vector<Tensor> tensors;   ///< in the order of their bytes
  std::uint64_t size_bytes = 0;  ///< of the length and the header: where the tensors' bytes begin
};

/// The bounds of what is read.
struct Expected {
  std::size_t tensors = 0;  ///< a header that is longer than so many take is refused unparsed
  /// Returns true for the name of a tensor that the reader wants; others are refused.
  std::function<bool(const std::string&)> wanted = {};
  std::string reader = "the model";  ///< "belongs to no layer of the model"
};

/// Returns the length of the length and the header by the first bytes of a file. Throws InputError
/// that begins with `name`, the file's: it is no safetensors file, or its header is too long.
std::uint64_t header_size(std::string_view begin, std::uint64_t file_bytes, const std::string& name,
                          const Expected& expected);

/// Returns the header of a file whose first header_size() bytes are given. Throws InputError that
/// begins with `name`: bad JSON, an unwanted tensor, bytes of two tensors or of none.
Header read_header(std::string_view begin, std::uint64_t file_bytes, const std::string& name,
                   const Expected& expected, const ReadLimits& limits);

/// Returns the length and the header, padded by spaces to a multiple of `alignment` bytes.
std::string header_text(const Header& header, std::size_t alignment);

}  // namespace hios::safetensors
