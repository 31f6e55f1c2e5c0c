#include "cli/flags/flag_text.h"

#include <gtest/gtest.h>

#include <new>

#include "cli/flags/file_flags.h"
#include "cli/flags/flags.h"

namespace hios::cli {
namespace {

namespace po = boost::program_options;
using Values = std::vector<std::string>;

/// Returns the texts of a table with one flag of every kind.
std::vector<FlagText> texts_of_kinds() {
  po::options_description group("Kinds: several", 100, 45);
  group.add_options()("force,f", "replace files");
  group.add_options()("count", value("N")->default_value("5"), daily("a number"));
  group.add_options()("verify", value("operators")->implicit_value("outputs"), "compare");
  group.add_options()("input", input_file("FILE"), "a file");
  group.add_options()("output", output_file("FILE"), "a file");
  group.add_options()("folder", output_folder("FOLDER|off", nullptr)->default_value("/tmp", ""),
                      "a folder");
  group.add_options()("dim", po::value<Values>()->value_name("NAME=N"), "an extent");
  group.add_options()("reference", named_input_files("[NAME:]FILE"), "several files");
  group.add_options()("math", value("fp32|tf32|KIND")->default_value("fp32"), "arithmetic");
  return flag_texts(group);
}

FlagText text_of_kind(const std::string& name) {
  const std::vector<FlagText> texts = texts_of_kinds();
  const auto found = std::ranges::find(texts, name, &FlagText::name);
  return found == texts.end() ? FlagText{} : *found;
}

TEST(FlagTexts, FollowTheTable) {
  std::string names;
  for (const FlagText& flag : texts_of_kinds()) {
    names += flag.name + " ";
    EXPECT_EQ(flag.group, "Kinds: several") << flag.name;
    EXPECT_EQ(flag.is_daily, flag.name == "count");
    EXPECT_EQ(flag.repeatable, flag.name == "dim" || flag.name == "reference");
  }
  EXPECT_EQ(names, "force count verify input output folder dim reference math ");
}

TEST(FlagTexts, SpellTheFlag) {
  EXPECT_EQ(spelling(text_of_kind("force")), "-f, --force");
  EXPECT_EQ(spelling(text_of_kind("count")), "--count N");
  EXPECT_EQ(spelling(text_of_kind("verify")), "--verify[=operators]");
  EXPECT_EQ(spelling(text_of_kind("dim")), "--dim NAME=N");
}

TEST(FlagTexts, HaveDefaultsAndTexts) {
  EXPECT_EQ(text_of_kind("count").default_value, "5");
  EXPECT_EQ(text_of_kind("count").text, "a number") << "without its mark";
  EXPECT_EQ(text_of_kind("verify").default_value, "");
  EXPECT_EQ(text_of_kind("folder").default_value, "") << "the table gives it no text";
}

TEST(FlagTexts, KnowFilesAndWords) {
  EXPECT_EQ(text_of_kind("count").file, "");
  EXPECT_EQ(text_of_kind("input").file, "input");
  EXPECT_EQ(text_of_kind("reference").file, "input");
  EXPECT_EQ(text_of_kind("output").file, "output");
  EXPECT_EQ(text_of_kind("folder").file, "folder");
  EXPECT_EQ(text_of_kind("folder").values, Values{"off"});
  EXPECT_EQ(text_of_kind("math").values, (Values{"fp32", "tf32"}));
  EXPECT_EQ(text_of_kind("dim").values, Values{});
}

// A name of more than 15 characters needs memory; without, Boost leaves the option nameless.
TEST(FlagTexts, ANameThatFoundNoMemoryEndsInThatAnswer) {
  po::options_description group("Kinds", 100, 45);
  group.add_options()("", "lost its name");
  EXPECT_THROW(flag_texts(group), std::bad_alloc);
}

}  // namespace
}  // namespace hios::cli
