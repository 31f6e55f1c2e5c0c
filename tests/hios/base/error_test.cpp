#include "hios/base/error.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <string>

namespace hios {
namespace {

TEST(Error, CarriesItsExitStatus) {
  EXPECT_EQ(InputError("x").code(), ExitCode::kBadInput);
  EXPECT_EQ(RunError("x").code(), ExitCode::kRunFailed);
}

TEST(Printable, LeavesReadableTextAlone) {
  EXPECT_EQ(printable("conv_1 größe 畳み込み 🙂"), "conv_1 größe 畳み込み 🙂");
  EXPECT_EQ(quote(""), "\"\"");
  EXPECT_EQ(quote(R"(a "b" \c)"), R"("a \"b\" \\c")");
}

TEST(Printable, EscapesWhatATerminalWouldObey) {
  EXPECT_EQ(printable("a\nb\tc\x1b[31m\x7f"), "a\\nb\\tc\\u001b[31m\\u007f");
  EXPECT_EQ(printable("\xc2\x9b"), "\\u009b");      // a one-character escape sequence
  EXPECT_EQ(printable("\xe2\x80\xae"), "\\u202e");  // right to left
  EXPECT_EQ(printable("\xff\xc3(\xe2\x82"), "\\xff\\xc3(\\xe2\\x82");  // no UTF-8
}

/// Returns a code point in UTF-8.
std::string utf8(char32_t c) {
  if (c < 0x80) return {static_cast<char>(c)};
  const auto tail = [c](int shift) { return static_cast<char>(0x80 | (c >> shift & 0x3f)); };
  if (c < 0x800) return {static_cast<char>(0xc0 | c >> 6), tail(0)};
  if (c < 0x10000) return {static_cast<char>(0xe0 | c >> 12), tail(6), tail(0)};
  return {static_cast<char>(0xf0 | c >> 18), tail(12), tail(6), tail(0)};
}

TEST(Printable, EscapesInvisibleCharacters) {
  // The ends of all ranges of Unicode's categories Cc, Cf, Zl and Zp.
  constexpr char32_t kEnds[] = {
      0x0,     0x1f,    0x7f,    0x80,    0x9f,    0xad,    0x600,   0x605,   0x61c,   0x6dd,
      0x70f,   0x890,   0x891,   0x8e2,   0x180e,  0x200b,  0x200d,  0x200f,  0x2028,  0x2029,
      0x202a,  0x202e,  0x2060,  0x2064,  0x2066,  0x206f,  0xfeff,  0xfff9,  0xfffb,  0x110bd,
      0x110cd, 0x13430, 0x1343f, 0x1bca0, 0x1bca3, 0x1d173, 0x1d17a, 0xe0001, 0xe0020, 0xe007f};
  for (const char32_t c : kEnds) {
    char escaped[16];
    std::snprintf(escaped, sizeof escaped, c > 0xffff ? "\\U%08x" : "\\u%04x",
                  static_cast<unsigned>(c));
    EXPECT_EQ(printable("a" + utf8(c) + "b"), std::string("a") + escaped + "b");
  }
}

TEST(Printable, LeavesTheirNeighboursAlone) {
  constexpr char32_t kNeighbours[] = {
      0x20,    0x7e,    0xa0,    0xac,    0xae,    0x5ff,   0x606,   0x61b,   0x61d,
      0x6dc,   0x6de,   0x70e,   0x710,   0x88f,   0x892,   0x8e1,   0x8e3,   0x180d,
      0x180f,  0x200a,  0x2010,  0x2027,  0x202f,  0x205f,  0x2070,  0xfefe,  0xff00,
      0xfff8,  0xfffc,  0x110bc, 0x110be, 0x110cc, 0x110ce, 0x1342f, 0x13440, 0x1bc9f,
      0x1bca4, 0x1d172, 0x1d17b, 0x1f600, 0xe0080, 0x10ffff};
  for (const char32_t c : kNeighbours) {
    EXPECT_EQ(printable(utf8(c)), utf8(c)) << std::hex << static_cast<unsigned>(c);
  }
}

TEST(Printable, ShowsAnEmojiWithAJoinerAsItsParts) {
  EXPECT_EQ(printable("\U0001f469\u200d\U0001f680"), "\U0001f469\\u200d\U0001f680");
}

TEST(Printable, EscapesBytesThatOnlyLookLikeUtf8) {
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");           // half of a UTF-16 pair
  EXPECT_EQ(printable("\xe0\x82\x9b"), "\\xe0\\x82\\x9b");           // U+009B in a longer form
  EXPECT_EQ(printable("\xf0\x80\x82\x9b"), "\\xf0\\x80\\x82\\x9b");  // and a longer one
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");  // beyond Unicode
  EXPECT_EQ(printable("\xc1\xbf\xf5"), "\\xc1\\xbf\\xf5");
}

TEST(Printable, KeepsTheLineEndsOfLines) {
  EXPECT_EQ(printable_lines("a\u202eb\nc\td\n\n"), "a\\u202eb\nc\\td\n\n");
  const std::string uncut(5000, 'x');
  EXPECT_EQ(printable_lines(uncut), uncut);
}

TEST(Printable, CutsBetweenCharacters) {
  EXPECT_EQ(printable("ääää", 4), "ääää");
  EXPECT_EQ(printable("äääää", 4), "ääää…");
  EXPECT_EQ(printable(std::string(1000, 'x')).size(), 60 + std::string("…").size());
}

}  // namespace
}  // namespace hios
