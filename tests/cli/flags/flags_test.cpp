#include "cli/flags/flags.h"

#include <gtest/gtest.h>

#include "hios/base/error.h"

namespace hios::cli {
namespace {

Flags read_words(std::vector<const char*> words) {
  words.insert(words.begin(), "hios-test");
  Flags flags({.program = "hios-test", .purpose = "a test"});
  boost::program_options::options_description group("Test");
  group.add_options()("count", value("N"), "a number")("ratio", value("X"), "a number")(
      "names", value("A,B"), "a list");
  flags.add(group).add(common_flags());
  flags.parse(static_cast<int>(words.size()), words.data());
  return flags;
}

std::string message(const std::function<void()>& action) {
  try {
    action();
  } catch (const InputError& error) {
    return error.what();
  }
  return "no message";
}

TEST(Flags, ReadsNumbersOnlyAsWritten) {
  EXPECT_EQ(read_words({"--count", "7"}).integer("count", 0, 10), 7);
  for (const char* bad : {"3.9", "11", "-1", "4294967297", "1e1", "", "7x", "nan"}) {
    SCOPED_TRACE(bad);
    const std::string word = std::string("--count=") + bad;
    EXPECT_NE(message([&] { read_words({word.c_str()}).integer("count", 0, 10); }).find("--count"),
              std::string::npos);
  }
}

TEST(Flags, RefusesNumbersThatAreNone) {
  EXPECT_DOUBLE_EQ(read_words({"--ratio", "0.5"}).number("ratio", 0, 1), 0.5);
  for (const char* bad : {"1e400", "nan", "inf", "1.5", "-0.1", "half"}) {
    SCOPED_TRACE(bad);
    const std::string word = std::string("--ratio=") + bad;
    EXPECT_NE(message([&] { read_words({word.c_str()}).number("ratio", 0, 1); }).find("--ratio"),
              std::string::npos);
  }
}

TEST(Flags, RefusesUnknownFlags) {
  EXPECT_NE(message([] { read_words({"--cuont", "1"}); }).find("--help"), std::string::npos);
  EXPECT_NE(message([] {
              read_words({"--coun", "1"});
            }).find("--help"),
            std::string::npos)
      << "an abbreviation";
  EXPECT_NE(message([] { read_words({"stray"}); }).find("--help"), std::string::npos)
      << "a positional word";
  EXPECT_NE(message([] {
              read_words({"--count", "1", "--count", "2"});
            }),
            "no message")
      << "a flag twice";
}

/// Reads the words of a program with a model, and with a flag that also stands alone.
Flags read_model(std::vector<const char*> words) {
  words.insert(words.begin(), "hios-test");
  Flags flags({.program = "hios-test", .purpose = "a test"});
  boost::program_options::options_description group("Test");
  group.add_options()("model", value("NAME"), "a model")(
      "verify", value("operators")->implicit_value("outputs"), "a check")(
      "explain", boost::program_options::value<std::vector<std::string>>()->multitoken(),
      "several words");
  flags.add(group).add(common_flags());
  flags.parse(static_cast<int>(words.size()), words.data());
  return flags;
}

TEST(Flags, TakeAWordWithoutAFlagAsTheModel) {
  for (const std::vector<const char*>& words : std::vector<std::vector<const char*>>{
           {"net"}, {"-q", "net"}, {"net", "--seed", "3"}, {"--seed", "3", "net"}, {"--", "net"}}) {
    EXPECT_EQ(read_model(words).text("model"), "net");
  }
  EXPECT_EQ(read_model({"--model", "net"}).text("model"), "net");
  EXPECT_FALSE(read_model({}).given("model"));
}

TEST(Flags, TakeTheWordAfterAFlagThatStandsAloneAsTheModel) {
  const Flags flags = read_model({"--verify", "net"});
  EXPECT_EQ(flags.text("model"), "net");
  EXPECT_EQ(flags.text("verify"), "outputs");
  const Flags both = read_model({"--model", "net", "--verify", "operators"});
  EXPECT_EQ(both.text("model"), "net");
  EXPECT_EQ(both.text("verify"), "operators") << "there is a model already";
  EXPECT_EQ(read_model({"--verify=operators", "net"}).text("verify"), "operators");
  const Flags explain = read_model({"--explain", "a", "b"});
  EXPECT_FALSE(explain.given("model"));
  EXPECT_EQ(explain.repeated("explain"), (std::vector<std::string>{"a", "b"}));
}

TEST(Flags, RefuseTwoModels) {
  EXPECT_EQ(message([] {
              read_model({"a", "--model", "b"});
            }),
            "\"a\" and --model b both name the model: leave one out");
  EXPECT_EQ(message([] {
              read_model({"a", "b"});
            }),
            "\"a\" is the model, and \"b\" needs a flag before it (hios-test --help all lists the "
            "flags)");
  EXPECT_EQ(message([] { read_words({"stray"}); }),
            "\"stray\" is no flag (hios-test --help all lists the flags)");
}

TEST(Flags, AskForTheFlagThatWasMeant) {
  const auto asks = [](const char* word) { return message([&] { read_words({word, "1"}); }); };
  EXPECT_EQ(asks("--cuont"),
            "unrecognised option '--cuont'; did you mean --count? (hios-test --help all lists the "
            "flags)");
  EXPECT_NE(asks("--counts").find("did you mean --count?"), std::string::npos);
  EXPECT_NE(asks("--name").find("did you mean --names?"), std::string::npos);
  EXPECT_EQ(asks("--nonsense").find("did you mean"), std::string::npos);
  EXPECT_EQ(asks("-z").find("did you mean"), std::string::npos);
  EXPECT_NE(asks("--Count=1").find("did you mean --count?"), std::string::npos);
}

TEST(Flags, SplitsLists) {
  EXPECT_EQ(read_words({"--names", "a,b"}).list("names"), (std::vector<std::string>{"a", "b"}));
  EXPECT_NE(message([] {
              read_words({"--names", "a,,b"}).list("names");
            }).find("empty entry"),
            std::string::npos);
}

TEST(Flags, HelpHasAShortName) {
  for (const char* word : {"-h", "--help"}) {
    EXPECT_TRUE(read_words({word}).given("help")) << word;
    EXPECT_TRUE(answered(read_words({word}), /*print=*/false)) << word;
  }
  EXPECT_FALSE(answered(read_words({}), /*print=*/false));
}

TEST(Flags, HelpNamesEveryFlag) {
  const std::string help = read_words({}).help();
  for (const char* flag : {"--count", "--json", "--csv", "--seed", "--force", "--max-input",
                           "--help", "-h", "--version", "-q", "-v"}) {
    EXPECT_NE(help.find(flag), std::string::npos) << flag;
  }
}

}  // namespace
}  // namespace hios::cli
