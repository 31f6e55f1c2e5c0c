#include "hios/base/files/npy.h"

#include <charconv>
#include <cstring>
#include <string>
#include <string_view>

#include "hios/base/error.h"

namespace hios {
namespace {

constexpr std::string_view kMagic("\x93NUMPY", 6);
constexpr std::int64_t kMaxElements = std::int64_t{1} << 40;

[[noreturn]] void fail(const std::string& name, const std::string& message) {
  throw InputError(name + ": " + message);
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
std::vector<float> values_of(std::string_view bytes) {
  std::vector<float> values(bytes.size() / sizeof(Number));
  for (std::size_t i = 0; i < values.size(); ++i) {
    Number value;
    std::memcpy(&value, bytes.data() + i * sizeof(Number), sizeof(Number));
    values[i] = static_cast<float>(value);
  }
  return values;
}

}  // namespace

NpyArray read_npy(const std::filesystem::path& file, const ReadLimits& limits) {
  const std::string name = printable(file.string(), 200);
  const std::string text = read_text(file, {.max_bytes = limits.max_weights_bytes});
  const std::string_view bytes(text);
  if (bytes.size() < 12 || !bytes.starts_with(kMagic)) fail(name, "is no .npy file");
  const bool first = bytes[6] == 1;
  const std::size_t width = first ? 2 : 4, begin = 8 + width;
  std::size_t length = 0;
  for (std::size_t i = 0; i < width; ++i) {
    length |= static_cast<std::size_t>(static_cast<unsigned char>(bytes[8 + i])) << (8 * i);
  }
  if (length > bytes.size() - begin) fail(name, "is cut short");
  const std::string_view header = bytes.substr(begin, length), data = bytes.substr(begin + length);
  if (entry(header, "fortran_order") != "False") fail(name, "must be in C order");
  NpyArray array{dims_of(name, entry(header, "shape")), {}};
  const std::string_view type = entry(header, "descr");
  if (type != "'<f4'" && type != "'<f8'") {
    fail(name, "holds " + printable(type) + "; float32 or float64 is needed");
  }
  std::size_t count = type == "'<f4'" ? sizeof(float) : sizeof(double);
  for (const std::int64_t extent : array.dims) count *= static_cast<std::size_t>(extent);
  if (data.size() != count) fail(name, "holds other than the values that its header says");
  array.values = type == "'<f4'" ? values_of<float>(data) : values_of<double>(data);
  return array;
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
