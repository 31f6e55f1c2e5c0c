#include "hios/base/error.h"

#include <algorithm>
#include <array>
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
  // A longer form than needed, a half of a UTF-16 pair, or beyond Unicode: terminals differ.
  const bool too_long = value < (size == 4 ? 0x10000u : size == 3 ? 0x800u : 0x80u);
  const bool half_pair = value >= 0xd800 && value <= 0xdfff;
  if (too_long || half_pair || value > 0x10ffff) return {lead, 1, false};
  return {value, size, true};
}

/// Code points from `first` to `last`.
struct CodePoints {
  std::uint32_t first, last;
};

/// The characters that are not drawn themselves: Unicode's categories Cc (control), Cf (format), Zl
/// and Zp (separators of lines and paragraphs). Sorted; version 15.1 of Unicode.
constexpr std::array<CodePoints, 23> kInvisible = {{
    {0x0000, 0x001f},    // control characters of ASCII
    {0x007f, 0x009f},    // DEL and the second set of control characters
    {0x00ad, 0x00ad},    // soft hyphen
    {0x0600, 0x0605},    // Arabic number signs
    {0x061c, 0x061c},    // Arabic letter mark: direction
    {0x06dd, 0x06dd},    // Arabic end of ayah
    {0x070f, 0x070f},    // Syriac abbreviation mark
    {0x0890, 0x0891},    // Arabic pound and piastre marks
    {0x08e2, 0x08e2},    // Arabic disputed end of ayah
    {0x180e, 0x180e},    // Mongolian vowel separator
    {0x200b, 0x200f},    // of no width, joiners, directions
    {0x2028, 0x202e},    // separators of lines and paragraphs, directions
    {0x2060, 0x2064},    // word joiner, invisible operators
    {0x2066, 0x206f},    // isolated directions, deprecated marks
    {0xfeff, 0xfeff},    // byte order mark
    {0xfff9, 0xfffb},    // annotations between lines
    {0x110bd, 0x110bd},  // Kaithi number sign
    {0x110cd, 0x110cd},  // Kaithi number sign above
    {0x13430, 0x1343f},  // Egyptian hieroglyph joiners
    {0x1bca0, 0x1bca3},  // shorthand format controls
    {0x1d173, 0x1d17a},  // musical symbols' beams and slurs
    {0xe0001, 0xe0001},  // language tag
    {0xe0020, 0xe007f},  // tags
}};

bool is_invisible(std::uint32_t c) {
  return std::any_of(kInvisible.begin(), kInvisible.end(),
                     [c](const CodePoints& range) { return c >= range.first && c <= range.last; });
}

std::string escape(const CodePoint& point) {
  if (point.valid && point.value == '\n') return "\\n";
  if (point.valid && point.value == '\t') return "\\t";
  const char* const format = !point.valid           ? "\\x%02x"
                             : point.value > 0xffff ? "\\U%08x"
                                                    : "\\u%04x";
  char text[16];
  std::snprintf(text, sizeof text, format, point.value);
  return text;
}

enum class TextForm { kLine, kQuoted, kLines };

std::string fit(std::string_view text, std::size_t max_characters, TextForm form) {
  std::string out;
  for (std::size_t characters = 0; !text.empty(); ++characters) {
    if (characters == max_characters) return out + "…";
    const CodePoint point = decode(text);
    const bool stays = form == TextForm::kLines && point.value == '\n';
    if (!point.valid || (is_invisible(point.value) && !stays)) {
      out += escape(point);
    } else {
      if (form == TextForm::kQuoted && (point.value == '"' || point.value == '\\')) out += '\\';
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
  return fit(text, max_characters, TextForm::kLine);
}

std::string printable_lines(std::string_view text) {
  return fit(text, text.size(), TextForm::kLines);
}

std::string quote(std::string_view text, std::size_t max_characters) {
  return '"' + fit(text, max_characters, TextForm::kQuoted) + '"';
}

}  // namespace hios
