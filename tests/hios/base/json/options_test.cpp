#include "hios/base/json/options.h"

#include <array>
#include <stdexcept>

#include <gtest/gtest.h>

#include "support/expect_error.h"

namespace hios {
namespace {

using test::expect_error;

const std::array kSpecs = {
    OptionSpec{"window", std::int64_t{4}, 1, 64, "operators that may be merged"},
    OptionSpec{"weight", 0.5, 0, 1, "share of the serial sum"},
    OptionSpec{"exact", true, 0, 0, "try all endings"},
    OptionSpec{"order", std::string("rank"), 0, 0, "how ties are broken"},
};

TEST(Options, StartFromTheDefaults) {
  const Options options(kSpecs);
  EXPECT_EQ(options.integer("window"), 4);
  EXPECT_EQ(options.number("weight"), 0.5);
  EXPECT_TRUE(options.boolean("exact"));
  EXPECT_EQ(options.string("order"), "rank");
  EXPECT_TRUE(options.has("window"));
  EXPECT_FALSE(options.has("windows"));
  EXPECT_EQ(options.non_defaults().dump(), "{}");
}

TEST(Options, KeepWhatTheUserSaid) {
  Options options(kSpecs);
  for (const char* text : {"window=64", "weight=1", "exact=false", "order=a=b"}) options.set(text);
  EXPECT_EQ(options.non_defaults().dump(),
            R"({"window":64,"weight":1.0,"exact":false,"order":"a=b"})");
  options.set("window=4");
  EXPECT_FALSE(options.non_defaults().contains("window"));
}

TEST(Options, RefuseWithTheRemedy) {
  Options options(kSpecs);
  const auto refused = [&](const char* text, const char* why) {
    SCOPED_TRACE(text);
    expect_error([&] { options.set(text); }, {why});
  };
  refused("wndow=4", "no option is called \"wndow\"; there are: window, weight, exact, order");
  refused("window", "must have the form key=value");
  refused("=4", "no option is called \"\"");
  for (const char* text : {"window=0", "window=65", "window=", "window=4x", "window=3.9",
                           "window=4e0", "window= 4", "window=99999999999999999999"}) {
    refused(text, "window must be a whole number from 1 to 64");
  }
  for (const char* text :
       {"weight=-0.1", "weight=1.1", "weight=nan", "weight=inf", "weight=1e400", "weight=half"}) {
    refused(text, "weight must be a number from 0 to 1");
  }
  refused("exact=yes", "exact must be true or false");
  EXPECT_EQ(options.non_defaults().dump(), "{}");
  Options none;
  expect_error([&] { none.set("a=1"); }, {"there are none here"});
}

TEST(Options, DescribeThemselves) {
  const std::string help = Options(kSpecs).help();
  EXPECT_NE(help.find("  window=4  operators that may be merged (a whole number from 1 to 64)\n"),
            std::string::npos)
      << help;
  EXPECT_NE(help.find("weight=0.5"), std::string::npos);
}

TEST(Options, CatchMistakesOfOurs) {
  const std::array wrong = {OptionSpec{"window", std::int64_t{4}, 5, 64, ""}};
  EXPECT_THROW(Options{wrong}, std::logic_error);
  EXPECT_THROW(Options(kSpecs).integer("none"), std::logic_error);
  EXPECT_THROW(Options(kSpecs).integer("weight"), std::bad_variant_access);
}

}  // namespace
}  // namespace hios
