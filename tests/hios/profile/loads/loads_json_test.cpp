#include "hios/profile/loads/loads_json.h"

#include <gtest/gtest.h>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string_view>

#include "hios/profile/growth.h"
#include "hios/profile/profile_json.h"
#include "support/expect_error.h"
#include "support/schema.h"

namespace hios {
namespace {

MeasuredLoads some_loads(double gb_per_s) {
  return {.start_ms = 0.1,
          .latency_ms = 0.01,
          .gb_per_s = gb_per_s,
          .together_gb_per_s = gb_per_s / 2,
          .slowdown = 1.9,
          .load_slowdown = 1.8,
          .points = {{1000, 0.1}, {2000, 0.2}},
          .samples = 12,
          .network = "small"};
}

Profile cold_profile() {
  Configuration made;
  made.backend = made.kind = "cpu";
  made.operators["a"] = {1, 1, 4};
  made.loads = {{StoreKind::kMemory, some_loads(5)}, {StoreKind::kDisk, some_loads(1)}};
  made.in_place["a"] = {1.5, 4000, 8};
  return {{made}};
}

Profile read_back(const Json& json) { return profile_from_json(JsonView(json, "p.json")); }

TEST(LoadsJson, KeepsEverything) {
  const Profile profile = cold_profile();
  const Json json = to_json(profile);
  test::expect_meets_schema(json);
  const Profile again = read_back(json);
  EXPECT_EQ(again.configurations.front().loads, profile.configurations.front().loads);
  EXPECT_EQ(again.configurations.front().in_place, profile.configurations.front().in_place);
}

TEST(LoadsJson, OlderProfilesDoNotSayWhoseLoadsTheyHave) {
  Json json = to_json(cold_profile());
  json["configurations"][0]["loads"]["disk"].erase("network");
  const Profile again = read_back(json);
  EXPECT_EQ(again.configurations.front().loads.at(StoreKind::kDisk).network, "");
  EXPECT_EQ(again.configurations.front().loads.at(StoreKind::kMemory).network, "small");
  EXPECT_EQ(to_json(again), json);
}

TEST(LoadsJson, ProfilesWithoutColdStartsStayAsTheyWere) {
  Profile profile = cold_profile();
  profile.configurations.front().loads.clear();
  profile.configurations.front().in_place.clear();
  const Json json = to_json(profile);
  EXPECT_FALSE(json["configurations"][0].contains("loads"));
  EXPECT_FALSE(json["configurations"][0].contains("in_place"));
  EXPECT_TRUE(read_back(json).configurations.front().loads.empty());
}

TEST(LoadsJson, NamesThePlaceOfWhatIsWrong) {
  const auto refuse = [](const auto& edit, std::initializer_list<std::string_view> texts) {
    Json json = to_json(cold_profile());
    edit(json["configurations"][0]);
    test::expect_error<InputError>([&] { read_back(json); }, texts);
  };
  refuse([](Json& of) { of["loads"]["memory"]["slowdown"] = 0.5; },
         {"$.configurations[0].loads.memory.slowdown"});
  refuse([](Json& of) { of["loads"]["disk"]["gb_per_s"] = 0; },
         {"$.configurations[0].loads.disk.gb_per_s"});
  refuse([](Json& of) { of["loads"]["memory"]["points"] = Json::array(); },
         {"points", "one point"});
  refuse([](Json& of) { of["loads"]["tape"] = of["loads"]["disk"]; }, {"tape"});
  refuse([](Json& of) { of["in_place"]["a"].erase("bytes"); }, {"in_place", "bytes"});
}

TEST(LoadsJson, LaterMeasurementsReplaceEarlierOnes) {
  Profile known = cold_profile(), later = cold_profile();
  later.configurations.front().loads[StoreKind::kDisk] = some_loads(3);
  later.configurations.front().loads.erase(StoreKind::kMemory);
  later.configurations.front().in_place = {{"b", {2, 8000, 8}}};
  Profile grown = known;
  merge_changes(known, later, grown);
  known.merge(later);
  for (const Profile* each : {&known, &grown}) {
    const Configuration& merged = each->configurations.front();
    EXPECT_EQ(merged.loads.at(StoreKind::kDisk).gb_per_s, 3);
    EXPECT_EQ(merged.loads.at(StoreKind::kMemory).gb_per_s, 5);
    EXPECT_EQ(merged.in_place.size(), 2u);
  }
}

}  // namespace
}  // namespace hios
