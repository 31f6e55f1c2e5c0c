#include "hios/profile/settling.h"
#include "hios/base/json/json_parse.h"
#include "hios/base/json/json_text.h"
#include "hios/profile/profile_json.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace hios {
namespace {

Configuration of_two_threads() {
  Configuration made;
  made.backend = made.kind = "cpu";
  made.threads = 2;
  made.ranks = 3;
  return made;
}

TEST(Settling, IsUnknownWhereAProfileLacksIt) {
  Configuration configuration;
  EXPECT_EQ(unsettled_text(configuration), "");
  configuration.protocol = Json::array();
  EXPECT_EQ(unsettled_text(configuration), "");
  configuration.protocol = Json{{"settling", {{"operators", {{"settled", "no"}, {"sweeps", -3}}}}}};
  EXPECT_EQ(unsettled_text(configuration), "");
}

TEST(Settling, NamesUnsettledTimes) {
  Configuration configuration;
  add_settling(configuration, "operators",
               {.sweeps = 30, .disturbed = 1, .difference = 0.01, .settled = true});
  EXPECT_EQ(unsettled_text(configuration), "");
  add_settling(configuration, "stages",
               {.sweeps = 120, .disturbed = 31, .difference = 0.0712, .settled = false});
  EXPECT_EQ(unsettled_text(configuration),
            "stages differ by up to 7.1 % between the first and the second half of their 120 "
            "sweeps, 31 of which were disturbed");
}

TEST(Settling, AddsUpOverAllThatWasMeasured) {
  Configuration configuration;
  add_settling(configuration, "stages",
               {.sweeps = 40, .disturbed = 3, .difference = 0.2, .settled = false});
  add_settling(configuration, "stages", {.sweeps = 10, .disturbed = 1});
  add_settling(configuration, "stages",
               {.sweeps = 30, .disturbed = 0, .difference = 0.02, .settled = true});
  EXPECT_EQ(configuration.protocol["settling"]["stages"].dump(),
            R"({"sweeps":80,"disturbed":4,"settled":false,"difference":0.2})");
}

TEST(Settling, CountsDisturbedSweepsOfAllThings) {
  Configuration one, other;
  const std::vector<const Configuration*> both = {&one, &other};
  EXPECT_EQ(disturbed_text(both), "");
  add_settling(one, "operators", {.sweeps = 60});
  EXPECT_EQ(disturbed_text(both), "") << "none";
  add_settling(one, "stages", {.sweeps = 30, .disturbed = 1});
  add_settling(other, "operators", {.sweeps = 30, .disturbed = 40 - 1});
  EXPECT_EQ(disturbed_text(both).find("disturbed: 40 of 120 sweeps, 33.3 % ("), 0u)
      << disturbed_text(both);
}

TEST(Settling, IsKnownOfASumIfItIsOfAllSummands) {
  const auto settled = [](std::vector<std::optional<bool>> parts) {
    Configuration configuration;
    for (const auto& part : parts) {
      add_settling(configuration, "stages", {.sweeps = 10, .settled = part});
    }
    return configuration.protocol["settling"]["stages"].value("settled", Json("not known"));
  };
  EXPECT_EQ(settled({true, true}), true);
  EXPECT_EQ(settled({true, false, true}), false);
  EXPECT_EQ(settled({std::nullopt}), "not known");
  EXPECT_EQ(settled({true, std::nullopt, true}), "not known");
  EXPECT_EQ(settled({std::nullopt, false}), false);
}

TEST(Settling, NamesEachConfigurationOfAPlatformOnce) {
  Profile profile{{of_two_threads()}, "p.json"};
  const Platform platform = Platform::homogeneous(3, "cpu", 2, 8);
  EXPECT_EQ(unsettled_text(profile, platform), "");
  add_settling(profile.configurations.front(), "operators",
               {.sweeps = 120, .disturbed = 31, .difference = 0.0712, .settled = false});
  EXPECT_EQ(unsettled_text(profile, platform),
            "p.json, cpu with 2 threads among 3 ranks: operators differ by up to 7.1 % between the "
            "first and the second half of their 120 sweeps, 31 of which were disturbed");
  EXPECT_EQ(unsettled_text(profile, Platform::homogeneous(2, "cpu", 2, 8)), "") << "not used";
}

TEST(Settling, SurvivesTheProfilesFile) {
  Configuration configuration = of_two_threads();
  add_settling(configuration, "operators",
               {.sweeps = 60, .disturbed = 2, .difference = 0.05, .settled = false});
  const std::string text = to_text(to_json(Profile{{configuration}}));
  const Json json = parse_json(text, "a test");
  Profile read = profile_from_json(JsonView(json, "a test"));
  EXPECT_EQ(unsettled_text(read.configurations.front()), unsettled_text(configuration));
  EXPECT_NE(unsettled_text(configuration), "");
}

}  // namespace
}  // namespace hios
