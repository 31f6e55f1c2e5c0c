#include "hios/base/error.h"

#include <cstdint>
#include <cstdio>

#include "hios/base/need.h"

namespace hios {
namespace {

/// A code point of UTF-8, or a byte that belongs to none.
struct CodePoint {
  std::uint32_t value = 0;
  std::size_t size = 1;
  bool valid = false;
};

CodePoint decode(std::string_view text) {
  const auto byte = [&](std::size_t i) {
    return static_cast<std::uint32_t>(static_cast<unsigned char>(text[i]));
  };
  const std::uint32_t lead = byte(0);
  if (lead < 0x80) return {lead, 1, true};
  const std::size_t size = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < size) return {lead, 1, false};
  std::uint32_t value = lead & (0xffu >> (size + 1));
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {lead, 1, false};
    value = value << 6 | (byte(i) & 0x3f);
  }
  return {value, size, true};
}

bool is_control(std::uint32_t c) {
  const bool line_or_direction =
      (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) || c == 0x200e || c == 0x200f;
  return c < 0x20 || (c >= 0x7f && c < 0xa0) || line_or_direction || c == 0xfeff;
}

std::string escape(const CodePoint& point) {
  if (point.valid && point.value == '\n') return "\\n";
  if (point.valid && point.value == '\t') return "\\t";
  char text[16];
  std::snprintf(text, sizeof text, point.valid ? "\\u%04x" : "\\x%02x", point.value);
  return text;
}

std::string fit(std::string_view text, std::size_t max_characters, bool in_quotes) {
  std::string out;
  for (std::size_t characters = 0; !text.empty(); ++characters) {
    if (characters == max_characters) return out + "…";
    const CodePoint point = decode(text);
    if (!point.valid || is_control(point.value)) {
      out += escape(point);
    } else {
      if (in_quotes && (point.value == '"' || point.value == '\\')) out += '\\';
      out += text.substr(0, point.size);
    }
    text.remove_prefix(point.size);
  }
  return out;
}

}  // namespace

Error::Error(ExitCode code, const std::string& text, const Need& need)
    : std::runtime_error(text), code_(code), need_(std::make_shared<const Need>(need)) {}

const Need& Error::need() const {
  static const Need none;
  return need_ ? *need_ : none;
}

std::string printable(std::string_view text, std::size_t max_characters) {
  return fit(text, max_characters, false);
}

std::string quote(std::string_view text, std::size_t max_characters) {
  return '"' + fit(text, max_characters, true) + '"';
}

}  // namespace hios
