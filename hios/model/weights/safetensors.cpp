// A header says of itself how large it is, so what it may cost is known before it is parsed: its
// size by the number of tensors that its reader expects, and its entries by their names and counts.
#include "hios/model/weights/safetensors.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

#include "hios/base/error.h"
#include "hios/base/json/json_io.h"
#include "hios/base/json/json_view.h"

namespace hios::safetensors {
namespace {

static_assert(std::endian::native == std::endian::little, "lengths are little-endian in the file");

// The most that is read of a header: more than any name and shape takes.
constexpr std::uint64_t kLeastHeader = 1 << 20, kHeaderOfTensor = 4096;
constexpr std::size_t kMostExtents = 8;
constexpr const char* kMetadata = "__metadata__";

/// Reads one header.
class HeaderReader {
 public:
  HeaderReader(std::uint64_t data_bytes, const std::string& name, const Expected& expected)
      : data_bytes_(data_bytes), name_(name), expected_(expected) {}

  Header read(std::string_view text, const ReadLimits& limits) {
    const std::string name_of_header = name_ + ": its header";
    const Json json = parse_json(text, name_of_header, limits);
    const JsonView view(json, name_of_header);
    for (const auto& [name, entry] : view.members()) {
      if (name == kMetadata) {
        for (const auto& [key, value] : entry.members()) header_.metadata[key] = value.string();
      } else if (expected_.wanted(name)) {
        header_.tensors.push_back(tensor(name, entry));
      } else {
        fail(describe(name) + " belongs to no layer of " + expected_.reader);
      }
    }
    sort_and_check();
    return std::move(header_);
  }

 private:
  [[noreturn]] void fail(const std::string& message) const {
    throw InputError(name_ + ": " + message);
  }
  static std::string describe(const std::string& tensor) {
    return "the tensor " + printable(tensor, 100);
  }

  Tensor tensor(const std::string& name, const JsonView& entry) const {
    ObjectReader reader(entry);
    Tensor tensor{.name = name, .type = reader.required("dtype").string(), .shape = {}};
    const JsonView shape = reader.required("shape"), offsets = reader.required("data_offsets");
    reader.finish();
    if (shape.json().size() > kMostExtents) {
      fail(describe(name) + " has " + std::to_string(shape.json().size()) + " extents");
    }
    for (const JsonView& extent : shape.array()) {
      tensor.shape.push_back(extent.integer(0, std::int64_t{1} << 40));
    }
    if (!offsets.is_array() || offsets.json().size() != 2) {
      fail(describe(name) + " has no two data_offsets");
    }
    const std::vector<JsonView> ends = offsets.array();
    const auto size = static_cast<std::int64_t>(data_bytes_);
    tensor.begin = static_cast<std::uint64_t>(ends[0].integer(0, size));
    tensor.end =
        static_cast<std::uint64_t>(ends[1].integer(static_cast<std::int64_t>(tensor.begin), size));
    return tensor;
  }

  void sort_and_check() {
    std::ranges::sort(header_.tensors, [](const Tensor& a, const Tensor& b) {
      return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
    });
    std::uint64_t end = 0;
    for (const Tensor& tensor : header_.tensors) {
      if (tensor.size_bytes() == 0) continue;
      if (tensor.begin < end) fail(describe(tensor.name) + " overlaps another");
      if (tensor.begin > end) fail("has bytes of no tensor before " + printable(tensor.name, 100));
      end = tensor.end;
    }
    if (end != data_bytes_) {
      fail("has " + std::to_string(data_bytes_ - end) + " bytes of no tensor at its end");
    }
  }

  const std::uint64_t data_bytes_;
  const std::string& name_;
  const Expected& expected_;
  Header header_;
};

}  // namespace

std::uint64_t header_size(std::string_view begin, std::uint64_t file_bytes, const std::string& name,
                          const Expected& expected) {
  if (begin.size() < kLengthBytes) {
    throw InputError(name + ": is no safetensors file: it has fewer than 8 bytes");
  }
  std::uint64_t length = 0;
  std::memcpy(&length, begin.data(), kLengthBytes);
  if (length > file_bytes - kLengthBytes) {
    throw InputError(name +
                     ": is no safetensors file, or was cut: its header would end after the file, "
                     "at byte " +
                     std::to_string(length) + " of " + std::to_string(file_bytes - kLengthBytes));
  }
  const std::uint64_t most = kLeastHeader + kHeaderOfTensor * expected.tensors;
  if (length == 0 || length > most) {
    throw InputError(name + ": is no safetensors file of " + expected.reader + ": its header has " +
                     std::to_string(length) + " bytes, and at most " + std::to_string(most) +
                     " are read");
  }
  return kLengthBytes + length;
}

Header read_header(std::string_view begin, std::uint64_t file_bytes, const std::string& name,
                   const Expected& expected, const ReadLimits& limits) {
  const std::uint64_t size = header_size(begin, file_bytes, name, expected);
  Header header = HeaderReader(file_bytes - size, name, expected)
                      .read(begin.substr(kLengthBytes, size - kLengthBytes), limits);
  header.size_bytes = size;
  return header;
}

std::string header_text(const Header& header, std::size_t alignment) {
  Json json = {{kMetadata, header.metadata}};
  for (const Tensor& tensor : header.tensors) {
    json[tensor.name] = {{"dtype", tensor.type},
                         {"shape", tensor.shape},
                         {"data_offsets", {tensor.begin, tensor.end}}};
  }
  std::string text = json.dump();
  while ((kLengthBytes + text.size()) % alignment != 0) text += ' ';
  const std::uint64_t length = text.size();
  return std::string(reinterpret_cast<const char*>(&length), kLengthBytes) + text;
}

}  // namespace hios::safetensors
