// The help of the three programs, of daily use and of all flags, at every width.
#include "cli/flags/help.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>

#include "cli/flags/describe.h"
#include "cli/flags/model_flags.h"
#include "cli/profile/profile_flags.h"
#include "cli/run/run_flags.h"
#include "cli/schedule/inputs/schedule_flags.h"

namespace hios::cli {
namespace {

constexpr Flags (*kHelps[])() = {profile_program_flags, schedule_program_flags, run_program_flags};
constexpr HelpScope kScopes[] = {HelpScope::kDaily, HelpScope::kAll};

std::vector<std::string> help_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::string without_space(std::string text) {
  std::erase_if(text, [](char c) { return c == ' ' || c == '\n'; });
  return text;
}

/// Returns the flags that begin a line, by name.
std::set<std::string> flags_shown(const std::string& help) {
  const std::regex flag("^  (-., )?--([a-z-]+)");
  std::set<std::string> shown;
  for (const std::string& line : help_lines(help)) {
    std::smatch match;
    if (std::regex_search(line, match, flag)) shown.insert(match[2]);
  }
  return shown;
}

/// Returns the flags of these words, parsed as those of hios-run.
Flags run_flags_of(std::vector<const char*> words) {
  words.insert(words.begin(), "hios-run");
  Flags flags = run_program_flags();
  flags.parse(static_cast<int>(words.size()), words.data());
  return flags;
}

TEST(Help, BeginsWithUsageAndTwoExamples) {
  for (const auto& flags_of : kHelps) {
    for (const HelpScope scope : kScopes) {
      const Flags flags = flags_of();
      const ProgramText& program = flags.program_text();
      const std::string help = flags.help(scope);
      SCOPED_TRACE(help);
      EXPECT_TRUE(help.starts_with("usage: " + program.program + " "));
      EXPECT_EQ(program.examples.size(), 2u);
      const std::string start = help.substr(0, help.find("\n" + program.program + ": "));
      EXPECT_LE(help_lines(start).size(), 12u);
      for (const Example& example : program.examples) {
        const std::string pasted = std::regex_replace(start, std::regex("\\\\\n *"), "");
        EXPECT_NE(pasted.find("\n  " + example.command + "\n"), std::string::npos);
      }
    }
  }
}

TEST(Help, ShowsTheFlagsOfDailyUseOrAll) {
  for (const auto& flags_of : kHelps) {
    const Flags flags = flags_of();
    std::set<std::string> daily_flags, all;
    for (const FlagText& flag : flags.texts()) {
      all.insert(flag.name);
      if (flag.is_daily) daily_flags.insert(flag.name);
    }
    EXPECT_GE(daily_flags.size(), 8u) << flags.program_text().program;
    EXPECT_LE(daily_flags.size(), 12u) << flags.program_text().program;
    EXPECT_EQ(flags_shown(flags.help(HelpScope::kDaily)), daily_flags);
    EXPECT_EQ(flags_shown(flags.help(HelpScope::kAll)), all);
    EXPECT_EQ(help_lines(flags.help(HelpScope::kDaily)).back(),
              flags.program_text().program + " --help all explains all " +
                  std::to_string(all.size()) + " flags.");
  }
}

TEST(Help, StaysWithinTheColumns) {
  for (const auto& flags_of : kHelps) {
    for (const HelpScope scope : kScopes) {
      for (const std::size_t columns : {50, 60, 63, 64, 80, 100, 160}) {
        std::size_t widest = 0;
        for (const std::string& line : help_lines(flags_of().help(scope, columns))) {
          EXPECT_LE(line.size(), columns) << line;
          widest = std::max(widest, line.size());
        }
        EXPECT_GE(widest, columns - 16) << "the text uses the columns";
      }
    }
  }
}

TEST(Help, HasEveryWordOfEveryText) {
  for (const auto& flags_of : kHelps) {
    const Flags flags = flags_of();
    for (const std::size_t columns : {48, 80, 120}) {
      const std::string help = without_space(flags.help(HelpScope::kAll, columns));
      for (const FlagText& flag : flags.texts()) {
        const std::string ends =
            flag.default_value.empty() ? "" : "(default: " + flag.default_value + ")";
        EXPECT_NE(help.find(without_space(spelling(flag) + flag.text + ends)), std::string::npos)
            << flag.name;
      }
    }
  }
}

TEST(Help, BreaksBetweenWords) {
  EXPECT_EQ(wrapped("one two three", 0, 2, 9), "one two\n  three");
  EXPECT_EQ(wrapped("one two", 6, 2, 9), "one\n  two");
  EXPECT_EQ(wrapped("one n=200,edges=400,seed=3 two", 0, 2, 12),
            "one n=200,\n  edges=400,\n  seed=3 two");
  EXPECT_EQ(wrapped("withoutanycomma", 0, 0, 4), "withoutanycomma");
  EXPECT_EQ(wrapped("a — b", 0, 0, 5), "a — b") << "characters count, not bytes";
  EXPECT_EQ(wrapped("", 4, 2, 9), "");
}

TEST(Help, GroupsHaveTitles) {
  for (const auto& flags_of : kHelps) {
    const Flags flags = flags_of();
    const std::vector<std::string> lines = help_lines(flags.help());
    std::set<std::string> groups;
    for (const FlagText& flag : flags.texts()) groups.insert(flag.group);
    EXPECT_GE(groups.size(), 6u);
    for (const std::string& group : groups)
      EXPECT_EQ(std::ranges::count(lines, group + ":"), 1) << group;
  }
}

TEST(Help, TakesAllAsOneWordOrTwo) {
  for (const std::vector<const char*>& words : {std::vector{"--help", "all"},
                                                {"--help=all"},
                                                {"-h", "all"},
                                                {"--dry-run", "--help", "all"}})
    EXPECT_EQ(run_flags_of(words).text("help"), "all");
  for (const char* word : {"--help", "-h"}) EXPECT_NE(run_flags_of({word}).text("help"), "all");
  EXPECT_THROW(run_flags_of({"--help=most"}), InputError);
  EXPECT_EQ(run_flags_of({"--help", "squeezenet"}).text("model"), "squeezenet")
      << "a word without a flag is the model";
}

TEST(Describe, HasTheTextOfTheHelp) {
  for (const auto& flags_of : kHelps) {
    const Flags flags = flags_of();
    const Json described = description(flags);
    EXPECT_EQ(described.at("program"), flags.program_text().program);
    EXPECT_EQ(described.at("examples").at(1).at("command"),
              flags.program_text().examples[1].command);
    ASSERT_EQ(described.at("flags").size(), flags.texts().size());
    for (std::size_t i = 0; i < flags.texts().size(); ++i) {
      EXPECT_EQ(described.at("flags")[i].at("name"), flags.texts()[i].name);
      EXPECT_EQ(described.at("flags")[i].at("text"), flags.texts()[i].text);
      EXPECT_EQ(described.at("flags")[i].at("daily"), flags.texts()[i].is_daily);
    }
  }
}

TEST(Describe, KnowsWordsThatFlagsTake) {
  const auto words = [](const Flags& flags, const std::string& name) {
    const auto found = std::ranges::find(flags.texts(), name, &FlagText::name);
    return found->values;
  };
  EXPECT_EQ(words(run_program_flags(), "model"), model_names());
  EXPECT_TRUE(std::ranges::count(words(run_program_flags(), "backend"), "reference"));
  EXPECT_TRUE(std::ranges::count(words(profile_program_flags(), "stages"), "hios-lp"));
  EXPECT_TRUE(std::ranges::count(words(profile_program_flags(), "stages"), "none"));
  EXPECT_EQ(words(schedule_program_flags(), "objective"),
            (std::vector<std::string>{"latency", "throughput", "cold-start"}));
  EXPECT_EQ(words(schedule_program_flags(), "bounds"),
            (std::vector<std::string>{"all", "simple", "downsets", "bottleneck", "bottleneck-guess",
                                      "exact"}));
}

TEST(Describe, KnowsFilesWithoutARole) {
  const Flags flags = run_program_flags();
  EXPECT_EQ(std::ranges::find(flags.texts(), "explain", &FlagText::name)->file, "input");
}

TEST(Describe, IsAskedForByAnyWord) {
  const char* const asks[] = {"hios-run", "--model", "--describe-flags"};
  EXPECT_TRUE(asks_for_description(3, asks));
  EXPECT_FALSE(asks_for_description(2, asks));
  EXPECT_FALSE(asks_for_description(0, asks));
}

}  // namespace
}  // namespace hios::cli
