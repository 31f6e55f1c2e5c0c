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

TEST(Table, FoldsIntoLinesOfAWidth) {
  Table table({"name", "devices", "latency ms", "gap"}, 2);
  table.add({"ios", "2", "12.5", "-"});
  table.add({"hios-lp", "4", "3.25", "+1 %"});
  const std::string whole = table.text();
  EXPECT_EQ(whole,
            "name     devices  latency ms   gap\n"
            "-------  -------  ----------  ----\n"
            "ios            2        12.5     -\n"
            "hios-lp        4        3.25  +1 %\n");
  EXPECT_EQ(table.text(34), whole) << "as wide as its lines";
  const std::string folded =
      "name     devices  latency ms\n"
      "-------  -------  ----------\n"
      "ios            2        12.5\n"
      "hios-lp        4        3.25\n"
      "\n"
      "name     devices   gap\n"
      "-------  -------  ----\n"
      "ios            2     -\n"
      "hios-lp        4  +1 %\n";
  EXPECT_EQ(table.text(33), folded);
  EXPECT_EQ(table.text(5), folded) << "each table has a column besides the names";
}

TEST(Table, ATableOfNamesAloneIsNotFolded) {
  Table table({"a long name"});
  table.add({"x"});
  EXPECT_EQ(table.text(4), "a long name\n-----------\nx\n");
}

TEST(Table, IsATableOfMarkdown) {
  Table table({"name", "a|b"});
  table.add({"conv_1*`x`", "<5 & \\"});
  EXPECT_EQ(table.markdown(),
            "| name | a\\|b |\n"
            "|:---|---:|\n"
            "| conv\\_1\\*\\`x\\` | &lt;5 &amp; \\\\ |\n");
}

TEST(Table, IsATabularOfLatex) {
  Table table({"name", "gap"});
  table.add({"conv_1 {#$&}", "+4.2 %"});
  table.add({"a\\b~c^d", "<|>\""});
  EXPECT_EQ(table.latex(),
            "\\begin{tabular}{lr}\n"
            "\\hline\n"
            "name & gap \\\\\n"
            "\\hline\n"
            "conv\\_1 \\{\\#\\$\\&\\} & +4.2 \\% \\\\\n"
            "a\\textbackslash{}b\\textasciitilde{}c\\textasciicircum{}d & "
            "\\textless{}\\textbar{}\\textgreater{}\\textquotedbl{} \\\\\n"
            "\\hline\n"
            "\\end{tabular}\n");
}

TEST(Table, WritesNumbers) {
  EXPECT_EQ(fixed(1.23456, 2), "1.23");
  EXPECT_EQ(percent(0.0421), "+4.2 %");
  EXPECT_EQ(percent(-0.5), "-50.0 %");
}

}  // namespace
}  // namespace hios::cli
