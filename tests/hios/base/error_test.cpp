#include "hios/base/error.h"

#include <gtest/gtest.h>

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

TEST(Printable, CutsBetweenCharacters) {
  EXPECT_EQ(printable("ääää", 4), "ääää");
  EXPECT_EQ(printable("äääää", 4), "ääää…");
  EXPECT_EQ(printable(std::string(1000, 'x')).size(), 60 + std::string("…").size());
}

}  // namespace
}  // namespace hios
