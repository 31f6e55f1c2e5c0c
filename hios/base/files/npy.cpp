#include "hios/base/files/npy.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>

#include "hios/base/error.h"
#include "hios/base/numbers/half.h"

namespace hios {
namespace {

constexpr std::string_view kMagic("\x93NUMPY", 6);
constexpr std::int64_t kMaxElements = std::int64_t{1} << 40;

[[noreturn]] void fail(const std::string& name, const std::string& message) {
  throw InputError(name + ": " + message);
}

/// Returns true for the first bytes of JPEG, PNG, GIF, BMP, TIFF and WebP files.
bool is_picture(std::string_view bytes) {
  const auto begins = [&](std::string_view magic) { return bytes.starts_with(magic); };
  return begins("\xff\xd8\xff") || begins("\x89PNG\r\n") || begins("GIF8") || begins("BM") ||
         begins(std::string_view("II*\0", 4)) || begins(std::string_view("MM\0*", 4)) ||
         (begins("RIFF") && bytes.substr(0, 12).ends_with("WEBP"));
}

/// Throws InputError unless the version is one of NumPy's: 1.0, 2.0 or 3.0.
void check_version(const std::string& name, std::string_view bytes) {
  const int major = static_cast<unsigned char>(bytes[6]),
            minor = static_cast<unsigned char>(bytes[7]);
  if (major >= 1 && major <= 3 && minor == 0) return;
  fail(name, "has the .npy version " + std::to_string(major) + "." + std::to_string(minor) +
                 "; 1.0, 2.0 and 3.0 are read");
}

/// Throws InputError if the header has a key twice, in quotes of either kind: of two values, none
/// is the right one.
void check_keys(const std::string& name, std::string_view header) {
  for (const std::string key : {"descr", "fortran_order", "shape"}) {
    int times = 0;
    for (const std::string& quoted : {"'" + key + "'", '"' + key + '"'}) {
      std::size_t at = header.find(quoted);
      for (; at != std::string_view::npos; at = header.find(quoted, at + 1)) ++times;
    }
    if (times > 1) fail(name, "has the key '" + key + "' twice in its header");
  }
}

/// Returns the value of 'key': in the header, up to the next comma outside of brackets.
std::string_view entry(std::string_view header, std::string_view key) {
  const std::size_t at = header.find("'" + std::string(key) + "':");
  if (at == std::string_view::npos) return {};
  std::size_t begin = at + key.size() + 3;
  while (begin < header.size() && header[begin] == ' ') ++begin;
  std::size_t end = begin;
  int depth = 0;
  for (; end < header.size(); ++end) {
    depth += header[end] == '(' ? 1 : header[end] == ')' ? -1 : 0;
    if (depth == 0 && (header[end] == ',' || header[end] == '}')) break;
  }
  return header.substr(begin, end - begin);
}

std::vector<std::int64_t> dims_of(const std::string& name, std::string_view text) {
  std::vector<std::int64_t> dims;
  if (text.size() < 2 || text.front() != '(' || text.back() != ')') fail(name, "names no shape");
  text = text.substr(1, text.size() - 2);
  std::int64_t all = 1;
  while (!text.empty()) {
    if (text.front() == ' ' || text.front() == ',') {
      text.remove_prefix(1);
      continue;
    }
    std::int64_t extent = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), extent);
    if (error != std::errc() || extent < 0 || (extent > 0 && all > kMaxElements / extent)) {
      fail(name, "has a shape that cannot be");
    }
    dims.push_back(extent);
    all *= extent;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  }
  return dims;
}

template <class Number>
std::vector<Number> numbers_of(std::string_view bytes) {
  std::vector<Number> numbers(bytes.size() / sizeof(Number));
  if (!numbers.empty()) std::memcpy(numbers.data(), bytes.data(), bytes.size());
  return numbers;
}

/// Rounds to fp32. Throws InputError for a finite value that only infinity would be left of.
std::vector<float> rounded(const std::string& name, std::span<const double> numbers,
                           const std::vector<std::int64_t>& dims) {
  std::vector<float> values(numbers.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>(numbers[i]);
    if (!std::isinf(values[i]) || std::isinf(numbers[i])) continue;
    char text[32];
    const char* const end = std::to_chars(std::begin(text), std::end(text), numbers[i]).ptr;
    fail(name, "holds " + std::string(static_cast<const char*>(text), end) + " at " +
                   index_text(i, dims) + ", which is beyond the range of float32");
  }
  return values;
}

/// Converts whole numbers and truth values. Throws InputError for one that fp32 does not hold.
template <class Number>
std::vector<float> converted(const std::string& name, std::span<const Number> numbers,
                             const std::vector<std::int64_t>& dims) {
  constexpr std::int64_t kMost = std::int64_t{1} << 24;
  const auto is_exact = [](Number number) {
    return std::cmp_less_equal(number, kMost) && std::cmp_greater_equal(number, -kMost);
  };
  std::vector<float> values(numbers.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>(numbers[i]);
    if (is_exact(numbers[i])) continue;
    fail(name, "holds " + std::to_string(numbers[i]) + " at " + index_text(i, dims) +
                   "; whole numbers up to 2^24 are exact in float32");
  }
  return values;
}

/// The element types that are read, with the bytes of each.
template <class Number>
std::vector<float> values_as(const std::string& name, std::string_view data,
                             const std::vector<std::int64_t>& dims) {
  std::size_t count = sizeof(Number);
  for (const std::int64_t extent : dims) count *= static_cast<std::size_t>(extent);
  if (data.size() != count) fail(name, "holds other than the values that its header says");
  std::vector<Number> numbers = numbers_of<Number>(data);
  if constexpr (std::is_same_v<Number, float>) {
    return numbers;
  } else if constexpr (std::is_same_v<Number, Half>) {
    std::vector<float> values(numbers.size());
    std::ranges::transform(numbers, values.begin(), to_float);
    return values;
  } else if constexpr (std::is_same_v<Number, double>) {
    return rounded(name, numbers, dims);
  } else {
    return converted<Number>(name, numbers, dims);
  }
}

std::vector<float> values_of(const std::string& name, std::string_view type, std::string_view data,
                             const std::vector<std::int64_t>& dims) {
  using Read = std::vector<float> (*)(const std::string&, std::string_view,
                                      const std::vector<std::int64_t>&);
  constexpr std::pair<std::string_view, Read> kTypes[] = {
      {"'<f4'", values_as<float>},         {"'<f8'", values_as<double>},
      {"'<f2'", values_as<Half>},          {"'<i8'", values_as<std::int64_t>},
      {"'<i4'", values_as<std::int32_t>},  {"'<i2'", values_as<std::int16_t>},
      {"'|i1'", values_as<std::int8_t>},   {"'<u8'", values_as<std::uint64_t>},
      {"'<u4'", values_as<std::uint32_t>}, {"'<u2'", values_as<std::uint16_t>},
      {"'|u1'", values_as<std::uint8_t>},  {"'|b1'", values_as<std::uint8_t>}};
  for (const auto& [name_of_type, read] : kTypes) {
    if (type == name_of_type) return read(name, data, dims);
  }
  fail(name, "holds " + printable(type) +
                 "; float32, float64, float16, integers or truth values are needed, little-endian");
}

/// Throws InputError where the file's text and its values, which are in memory together, do not
/// fit. Leaves files that cannot be read, or are too large, to read_text().
void require_memory_for(const std::filesystem::path& file, const std::string& name,
                        const ReadLimits& limits) {
  std::error_code unreadable;
  const std::uintmax_t size = std::filesystem::file_size(file, unreadable);
  if (unreadable || size > limits.max_weights_bytes) return;
  require_available(name + ": reading it takes", 2 * size, limits);
}

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
  throw ArraySizeError(name + ": holds " + holds + " where " + wanted + " " + extents_text(dims) +
                           " (float32, " + std::to_string(bytes) + " bytes)",
                       bytes);
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

std::string index_text(std::size_t at, std::span<const std::int64_t> dims) {
  std::string text;
  for (std::size_t i = dims.size(); i-- > 0;) {
    const auto extent = static_cast<std::size_t>(dims[i]);
    text = std::to_string(at % extent) + (text.empty() ? "" : ", ") + text;
    at /= extent;
  }
  return "[" + text + "]";
}

NpyArray read_npy(const std::filesystem::path& file, const ReadLimits& limits) {
  const std::string name = printable(file.string(), 200);
  require_memory_for(file, name, limits);
  const std::string text = read_text(file, {.max_bytes = limits.max_weights_bytes});
  const std::string_view bytes(text);
  if (is_picture(bytes)) throw PictureError(name + ": is a picture, no .npy file");
  if (bytes.size() < 12 || !bytes.starts_with(kMagic)) fail(name, "is no .npy file");
  check_version(name, bytes);
  const bool first = bytes[6] == 1;
  const std::size_t width = first ? 2 : 4, begin = 8 + width;
  std::size_t length = 0;
  for (std::size_t i = 0; i < width; ++i) {
    length |= static_cast<std::size_t>(static_cast<unsigned char>(bytes[8 + i])) << (8 * i);
  }
  if (length > bytes.size() - begin) fail(name, "is cut short");
  const std::string_view header = bytes.substr(begin, length), data = bytes.substr(begin + length);
  check_keys(name, header);
  if (entry(header, "fortran_order") != "False") fail(name, "must be in C order");
  NpyArray array{dims_of(name, entry(header, "shape")), {}};
  array.values = values_of(name, entry(header, "descr"), data, array.dims);
  return array;
}

std::vector<float> read_array(const std::filesystem::path& file, std::span<const std::int64_t> dims,
                              const std::string& wanted, const ReadLimits& limits) {
  if (file.extension() == ".bin") return read_raw(file, dims, wanted, limits);
  NpyArray array = read_npy(file, limits);
  if (!std::ranges::equal(array.dims, dims))
    refuse(printable(file.string(), 200), extents_text(array.dims), dims, wanted);
  return std::move(array.values);
}

void write_npy(const std::filesystem::path& file, std::span<const std::int64_t> dims,
               std::span<const float> values, Existing existing) {
  std::string shape;
  for (const std::int64_t extent : dims) shape += std::to_string(extent) + ", ";
  if (dims.size() > 1) shape.resize(shape.size() - 2);
  if (dims.size() == 1) shape.pop_back();
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (" + shape + "), }";
  constexpr std::size_t kBefore = 10, kAlignment = 64;  // NumPy aligns the data
  header.resize(
      (kBefore + header.size() + 1 + kAlignment - 1) / kAlignment * kAlignment - kBefore - 1, ' ');
  header += '\n';
  std::string text(kMagic);
  text +=
      {'\1', '\0', static_cast<char>(header.size() & 255), static_cast<char>(header.size() >> 8)};
  text += header;
  text.append(reinterpret_cast<const char*>(values.data()), values.size_bytes());
  write_text(file, text, existing);
}

}  // namespace hios
