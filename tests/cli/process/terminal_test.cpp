#include "cli/process/terminal.h"

#include <gtest/gtest.h>

namespace hios::cli {
namespace {

TEST(Terminal, TextIsAsWideAsTheTerminal) {
  EXPECT_EQ(columns_of_text({}, 120), 120u);
  EXPECT_EQ(columns_of_text({}, 0), 80u) << "a terminal that does not know its width";
  EXPECT_EQ(columns_of_text("100", 120), 100u) << "COLUMNS counts first";
  EXPECT_EQ(columns_of_text({}, 7), 40u) << "not narrower than can be read";
}

TEST(Terminal, TextForNoTerminalHasAtMost80Columns) {
  EXPECT_EQ(columns_of_text({}, {}), 80u);
  EXPECT_EQ(columns_of_text("200", {}), 80u);
  EXPECT_EQ(columns_of_text("60", {}), 60u);
}

TEST(Terminal, ColumnsThatAreNoNumberDoNotCount) {
  for (const char* text : {"", "wide", "-3", "80x", "0", "1e2", "99999999999999999999999"}) {
    EXPECT_EQ(columns_of_text(text, 90), 90u) << text;
    EXPECT_EQ(columns_of_text(text, {}), 80u) << text;
  }
  EXPECT_EQ(columns_of_text("999999", 90), 1000u);
}

}  // namespace
}  // namespace hios::cli
