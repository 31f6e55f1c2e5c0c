#include "cli/table.h"

#include <gtest/gtest.h>

namespace hios::cli {
namespace {

TEST(Table, AlignsByCharactersAndNotByBytes) {
  Table table({"name", "ms"});
  table.add({"µ", "1.5"});
  table.add({"long", "12.25"});
  EXPECT_EQ(table.text(),
            "name     ms\n"
            "----  -----\n"
            "µ       1.5\n"
            "long  12.25\n");
}

TEST(Table, QuotesCsvCellsThatNeedIt) {
  Table table({"a", "b"});
  table.add({"x,y", "say \"hi\""});
  EXPECT_EQ(table.csv(), "a,b\n\"x,y\",\"say \"\"hi\"\"\"\n");
}

TEST(Table, WritesNumbers) {
  EXPECT_EQ(fixed(1.23456, 2), "1.23");
  EXPECT_EQ(percent(0.0421), "+4.2 %");
  EXPECT_EQ(percent(-0.5), "-50.0 %");
}

}  // namespace
}  // namespace hios::cli
