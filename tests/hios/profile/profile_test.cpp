#include "hios/profile/profile.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "hios/profile/profile_json.h"
#include "support/expect_error.h"
#include "support/schema.h"

namespace hios {
namespace {

using test::expect_error;

Configuration configuration(std::string backend, int threads, std::size_t ranks) {
  Configuration made;
  made.backend = std::move(backend);
  made.kind = "cpu";
  made.threads = threads;
  made.ranks = ranks;
  return made;
}

Profile sample_profile() {
  Configuration made = configuration("cpu", 2, 3);
  made.machine = Json{{"processor", "some"}, {"cores", 4}};
  made.protocol = Json{{"warmup", 3}};
  made.operators["Conv 64 k3x3 | 1x3x8x8"] = {1.25, 1.0, 30};
  made.operators["Relu | 1x3x8x8"] = {0.1, 0.05, 30};
  made.stages[canonical({{"b", "c"}, {"a"}, {"a"}})] = {3.5, 3.25, 12};
  made.transfers.push_back({0, 2, {{1024, 0.01}, {4096, 0.04}}});
  made.transfers.push_back({2, 0, {{1024, 0.02}}});
  made.seconds = 1.5;
  return {{made, configuration("reference", 1, 1)}};
}

Profile read_profile(const Json& json) { return profile_from_json(JsonView(json, "p.json")); }

TEST(StageKey, IsTheSameForEqualMultisets) {
  EXPECT_EQ(canonical({{"b"}, {"a", "c"}, {"b"}}), canonical({{"b"}, {"b"}, {"a", "c"}}));
  EXPECT_NE(canonical({{"a", "c"}}), canonical({{"c", "a"}}));
  EXPECT_NE(canonical({{"b"}, {"b"}}), canonical({{"b"}}));
}

TEST(TransferCurve, IsLinearBetweenPoints) {
  const TransferCurve curve{0, 1, {{1000, 1}, {2000, 3}, {4000, 4}}};
  EXPECT_DOUBLE_EQ(curve.transfer_ms(0), 1);
  EXPECT_DOUBLE_EQ(curve.transfer_ms(1000), 1);
  EXPECT_DOUBLE_EQ(curve.transfer_ms(1500), 2);
  EXPECT_DOUBLE_EQ(curve.transfer_ms(2000), 3);
  EXPECT_DOUBLE_EQ(curve.transfer_ms(3000), 3.5);
  EXPECT_DOUBLE_EQ(curve.transfer_ms(4000), 4);
  EXPECT_DOUBLE_EQ(curve.transfer_ms(8000), 6);
}

TEST(TransferCurve, NeverFallsBeyondTheLastPoint) {
  const TransferCurve falling{0, 1, {{1000, 3}, {2000, 2}}};
  EXPECT_DOUBLE_EQ(falling.transfer_ms(1500), 2.5);
  EXPECT_DOUBLE_EQ(falling.transfer_ms(1'000'000), 2);
  const TransferCurve single{0, 1, {{1000, 3}}};
  EXPECT_DOUBLE_EQ(single.transfer_ms(10), 3);
  EXPECT_DOUBLE_EQ(single.transfer_ms(100'000), 3);
}

TEST(Profile, ReadsBackTheSame) {
  const Profile profile = sample_profile();
  const Json json = to_json(profile);
  test::expect_meets_schema(json);
  const Profile again = read_profile(json);
  EXPECT_EQ(to_json(again), json);
  EXPECT_EQ(again.digest(), profile.digest());
  EXPECT_EQ(to_json(read_profile(parse_json(to_text(json), "p.json"))), json);

  const Configuration& first = again.configurations.front();
  EXPECT_EQ(first.operators.at("Conv 64 k3x3 | 1x3x8x8").min_ms, 1.0);
  EXPECT_EQ(first.stages.at(canonical({{"a"}, {"b", "c"}, {"a"}})).samples, 12);
  EXPECT_EQ(first.transfers[0].points[1].second, 0.04);
  EXPECT_EQ(first.backend, profile.configurations.front().backend);
  EXPECT_EQ(first.key(), profile.configurations.front().key());
}

TEST(Profile, KeepsWhatManyInferencesNeed) {
  Profile profile = sample_profile();
  for (const char* const key : {"warm", "io_charge", "launch"}) {
    EXPECT_FALSE(to_json(profile)["configurations"][0].contains(key)) << key;
  }
  profile.configurations[0].io_charge = MeasuredCharge{{0.125, 0.75}, 90};
  profile.configurations[0].warm["Relu | 1x3x8x8"] = {0.05, 0.1, 4096, 30};
  const Json json = to_json(profile);
  test::expect_meets_schema(json);
  const Profile again = read_profile(json);
  EXPECT_EQ(to_json(again), json);
  EXPECT_EQ(again.configurations[0].io_charge, profile.configurations[0].io_charge);
  EXPECT_EQ(again.configurations[0].warm, profile.configurations[0].warm);
  for (const char* const wrong : {"send", "receive"}) {
    Json more = json;
    more["configurations"][0]["io_charge"][wrong] = 101;
    expect_error<InputError>([&] { read_profile(more); }, {"io_charge", wrong});
  }
  Profile merged = sample_profile();
  merged.merge(profile);
  EXPECT_EQ(merged.configurations[0].warm, profile.configurations[0].warm);
  EXPECT_EQ(merged.configurations[0].io_charge, profile.configurations[0].io_charge);
}

TEST(Profile, KeepsTheCostOfLaunching) {
  Profile profile = sample_profile();
  profile.configurations[0].launch = MeasuredLaunch{0.011, 0.0015, 30};
  const Json json = to_json(profile);
  test::expect_meets_schema(json);
  EXPECT_EQ(read_profile(json).configurations[0].launch, profile.configurations[0].launch);
  Json wrong = json;
  wrong["configurations"][0]["launch"]["ms"] = -1;
  expect_error<InputError>([&] { read_profile(wrong); }, {"launch", "ms"});
  Profile merged = sample_profile();
  merged.merge(profile);
  EXPECT_EQ(merged.configurations[0].launch, profile.configurations[0].launch);
}

TEST(Profile, ReadsStagesInAnyOrderOfGroups) {
  Json json = to_json(sample_profile());
  Json& groups = json["configurations"][0]["stages"][0]["groups"];
  groups = {{"a"}, {"b", "c"}, {"a"}};
  EXPECT_EQ(read_profile(json).configurations[0].stages, sample_profile().configurations[0].stages);
}

TEST(Profile, RefusesAShortestTimeAboveTheMedian) {
  for (const char* const where :
       {"/configurations/0/operators/Relu | 1x3x8x8", "/configurations/0/stages/0"}) {
    Json json = to_json(sample_profile());
    Json& times = json[Json::json_pointer(where)];
    times["min"] = times["ms"];
    EXPECT_NO_THROW(read_profile(json)) << where;
    times["min"] = times["ms"].get<double>() * (1 + 1e-12);  // a mean's rounding
    EXPECT_NO_THROW(read_profile(json)) << where;
    times["min"] = times["ms"].get<double>() * 1.001;
    expect_error<InputError>([&] { read_profile(json); },
                             {".min: must not be above \"ms\"", "$.configurations[0]."});
  }
}

TEST(Profile, DigestDistinguishesContents) {
  Profile other = sample_profile();
  other.configurations[0].operators["Relu | 1x3x8x8"].ms += 1e-9;
  EXPECT_NE(other.digest(), sample_profile().digest());
  EXPECT_EQ(sample_profile().digest().size(), 32U);
}

TEST(Profile, FindsAConfiguration) {
  Profile profile;
  profile.configurations = {configuration("reference", 1, 2), configuration("cpu", 1, 2),
                            configuration("reference", 2, 2)};
  const auto find = [&](std::string_view kind, int threads, std::size_t ranks,
                        Precision precision = Precision::kFp32) {
    return profile.find(Platform::homogeneous(ranks, kind, threads, 1, precision), DeviceId(0));
  };
  EXPECT_EQ(find("cpu", 1, 2)->backend, "cpu");
  EXPECT_EQ(find("cpu", 2, 2)->backend, "reference") << "where there is no other";
  EXPECT_EQ(find("cpu", 1, 1), nullptr);
  EXPECT_EQ(find("gpu", 1, 2), nullptr);
  EXPECT_EQ(find("cpu", 1, 2, Precision::kTf32), nullptr);
  ConfigurationKey key{.kind = "cpu", .threads = 1, .ranks = 2};
  EXPECT_EQ(profile.find(key), &profile.configurations[1]);
  key.devices = {"cpu", "gpu"};
  EXPECT_EQ(profile.find(key), nullptr);
}

TEST(Profile, KeepsWhatTheRanksOfAMixedJobWere) {
  Profile profile;
  profile.configurations = {configuration("cpu", 1, 2), configuration("cpu", 1, 2)};
  profile.configurations[1].devices = {"gpu", "cpu"};
  const Json json = to_json(profile);
  test::expect_meets_schema(json);
  const Profile again = read_profile(json);
  EXPECT_TRUE(again.configurations[0].devices.empty());
  EXPECT_EQ(again.configurations[1].devices, (std::vector<std::string>{"gpu", "cpu"}));
  EXPECT_NE(again.configurations[0].key(), again.configurations[1].key());

  // A mixed platform has the costs measured among devices like its own, otherwise among equal
  // devices.
  std::vector<Device> devices(2);
  devices[0].name = devices[0].kind = "gpu";
  devices[1].name = devices[1].kind = "cpu";
  EXPECT_EQ(again.find(Platform(devices), DeviceId(1)), &again.configurations[1]);
  std::swap(devices[0], devices[1]);
  EXPECT_EQ(again.find(Platform(devices), DeviceId(0)), &again.configurations[0]);
  EXPECT_EQ(again.find(Platform::homogeneous(2, "cpu", 1, 1), DeviceId(0)),
            &again.configurations[0]);

  Json wrong = json;
  wrong["configurations"][1]["devices"] = {"gpu"};
  test::expect_error<InputError>([&] { read_profile(wrong); }, {"devices", "2 ranks"});
}

TEST(Profile, HoldsAConfigurationForEachOfTwoGpus) {
  Profile profile;
  profile.configurations = {configuration("cuda", 0, 1), configuration("cuda", 0, 1)};
  for (Configuration& each : profile.configurations) each.kind = "gpu";
  profile.configurations[0].machine["backend"]["gpu"] = "NVIDIA H200";
  profile.configurations[1].machine["backend"]["gpu"] = "NVIDIA A100";
  const Profile again = read_profile(to_json(profile));
  const Platform any = Platform::homogeneous(1, "gpu", 0, 1);
  EXPECT_EQ(again.find(any.with_identities({"NVIDIA A100"}), DeviceId(0)),
            &again.configurations[1]);
  EXPECT_EQ(again.find(any.with_identities({"NVIDIA B200"}), DeviceId(0)), nullptr);
  profile.configurations[1].machine = profile.configurations[0].machine;
  test::expect_error<InputError>([&] { read_profile(to_json(profile)); },
                                 {"earlier configuration"});
}

const std::string kH200Name = "NVIDIA H200, CUDA 13.0, cuDNN 9.19.0";
const std::string kA100Name = "NVIDIA A100, CUDA 13.0, cuDNN 9.19.0";

Configuration measured_on(const std::string& gpu, std::size_t ranks) {
  Configuration made = configuration("cuda", 0, ranks);
  made.kind = "gpu";
  made.machine["backend"]["gpu"] = gpu;
  return made;
}

/// The identity of a device of a platform with these identities.
DeviceIdentity identified(const std::vector<DeviceIdentity>& named, const Profile& profile,
                          std::size_t device) {
  const Platform platform = Platform::homogeneous(named.size(), "gpu", 0, 1).with_identities(named);
  return identified_by(profile, platform).device(DeviceId(device)).identity;
}

TEST(IdentifiedBy, GivesDevicesTheIdentitiesOfTheProfile) {
  const Profile profile{{measured_on(kH200Name, 2), measured_on(kA100Name, 1)}};
  EXPECT_EQ(identified({"", ""}, profile, 1), kH200Name);
  EXPECT_EQ(identified({""}, profile, 0), kA100Name);
  EXPECT_EQ(identified({"", "", ""}, profile, 0), "");
  EXPECT_EQ(identified({"NVIDIA H200", "NVIDIA H200"}, profile, 0), "NVIDIA H200");
}

TEST(IdentifiedBy, AProfileOfSeveralGpusIsAmbiguous) {
  const Profile profile{{measured_on(kH200Name, 1), measured_on(kA100Name, 1)}};
  test::expect_error<InputError>(
      [&] { identified({""}, profile, 0); },
      {"measured on " + kH200Name, kA100Name, "the platform does not say which gpu0 is"});
  test::expect_need([&] { identified({""}, profile, 0); }, need::DeviceIdentity{"gpu0"});
  EXPECT_EQ(identified({kA100Name}, profile, 0), kA100Name);
}

TEST(Profile, MergeAddsAndReplaces) {
  Profile mine = sample_profile();
  Profile other;
  other.configurations = {configuration("cpu", 2, 3), configuration("cpu", 4, 1)};
  Configuration& update = other.configurations[0];
  update.operators["Relu | 1x3x8x8"] = {0.2, 0.1, 60};
  update.operators["new"] = {9, 8, 7};
  update.stages[{{"a"}, {"d"}}] = {2, 1, 3};
  update.transfers = {{0, 2, {{1024, 0.5}}}, {1, 2, {{1, 1}}}};
  update.protocol = Json{{"warmup", 9}};
  update.seconds = 2;
  mine.merge(other);

  ASSERT_EQ(mine.configurations.size(), 3U);
  const Configuration& merged = mine.configurations[0];
  EXPECT_EQ(merged.operators.size(), 3U);
  EXPECT_EQ(merged.operators.at("Relu | 1x3x8x8").samples, 60);
  EXPECT_EQ(merged.operators.at("Conv 64 k3x3 | 1x3x8x8").samples, 30);
  EXPECT_EQ(merged.stages.size(), 2U);
  ASSERT_EQ(merged.transfers.size(), 3U);
  EXPECT_EQ(merged.transfers[0].transfer_ms(1), 0.5);
  EXPECT_EQ(merged.protocol->at("warmup"), 9);
  EXPECT_EQ(merged.machine->at("cores"), 4);
  EXPECT_EQ(merged.seconds, 3.5);
}

TEST(Profile, AnyNumberOfRanksComputesByTheSameAlgorithms) {
  const auto configuration = [](std::size_t ranks, int threads, const Json& algorithms) {
    Configuration made;
    made.backend = made.kind = "cpu";
    made.threads = threads;
    made.ranks = ranks;
    made.machine = Json{{"algorithms", algorithms}};
    return made;
  };
  Profile profile;
  profile.configurations = {configuration(1, 1, {{"a", "direct"}, {"b", "winograd"}}),
                            configuration(1, 2, {{"c", "winograd"}}),
                            configuration(2, 1, {{"a", "winograd"}}), configuration(3, 1, Json())};
  EXPECT_EQ(profile.algorithms(profile.configurations[0]),
            (Json{{"a", "direct"}, {"b", "winograd"}}));
  EXPECT_EQ(profile.algorithms(profile.configurations[2]),
            (Json{{"a", "winograd"}, {"b", "winograd"}}))
      << "its own come first";
  EXPECT_EQ(profile.algorithms(profile.configurations[3]),
            (Json{{"a", "direct"}, {"b", "winograd"}}));
  EXPECT_EQ(profile.algorithms(profile.configurations[1]), (Json{{"c", "winograd"}}))
      << "other threads may want other algorithms";
  profile.configurations[1].backend = "reference";
  EXPECT_EQ(profile.algorithms(configuration(4, 2, Json::object())), Json::object());
}

TEST(Profile, RefusesImpossibleValues) {
  const auto refused = [](const char* pointer, const Json& value,
                          std::initializer_list<std::string_view> parts) {
    SCOPED_TRACE(pointer);
    Json json = to_json(sample_profile());
    json[Json::json_pointer(pointer)] = value;
    expect_error([&] { read_profile(json); }, parts);
  };
  const std::string first = "/configurations/0";
  refused("/version", 3, {"p.json: $.version", "version 3 is unknown"});
  refused("/configurations", 7, {"$.configurations: must be an array"});
  refused((first + "/threads").c_str(), -1, {"$.configurations[0].threads"});
  refused((first + "/ranks").c_str(), 4294967297, {".ranks: must be a whole number"});
  refused((first + "/operators/x").c_str(), 3, {".operators.x: must be an object"});
  refused((first + "/stages/0/groups/0").c_str(), Json::array(), {"groups[0]: a group of no"});
  refused((first + "/stages/0/groups").c_str(), Json::array(), {"groups: a stage of no groups"});
  refused((first + "/stages/0/ms").c_str(), -1, {"stages[0].ms: must be a number from 0"});
  refused((first + "/stages/0/samples").c_str(), 1.5, {"stages[0].samples: must be a whole"});
  refused((first + "/transfers/0/to").c_str(), 3, {"transfers[0].to: must be a whole number"});
  refused((first + "/transfers/0/to").c_str(), 0, {"transfers[0]: from and to are one rank"});
  refused((first + "/transfers/0/points/1/0").c_str(), 1024,
          {"points[1]: points must be in order of"});
  refused((first + "/transfers/0/points/1").c_str(), {1}, {"points[1]: a point is [bytes, ms]"});
  refused((first + "/transfers/0/points").c_str(), Json::array(), {"points: one point at least"});
  refused((first + "/machine").c_str(), "x", {"machine: must be an object"});
  refused((first + "/machine/algorithms").c_str(), 3, {"machine.algorithms: must be an object"});
  refused((first + "/machine/algorithms/x").c_str(), 3, {"machine.algorithms.x: must be a"});
  refused((first + "/colour").c_str(), "x", {"$.configurations[0]: unknown key \"colour\""});

  Json twice = to_json(sample_profile());
  twice["configurations"].push_back(twice["configurations"][0]);
  expect_error([&] { read_profile(twice); }, {"$.configurations[2]: backend, kind, threads"});
  Json stages = to_json(sample_profile());
  stages["configurations"][0]["stages"].push_back(stages["configurations"][0]["stages"][0]);
  expect_error([&] { read_profile(stages); }, {"stages[1]: the same groups are there twice"});
  Json transfers = to_json(sample_profile());
  transfers["configurations"][0]["transfers"][1]["from"] = 0;
  transfers["configurations"][0]["transfers"][1]["to"] = 2;
  expect_error([&] { read_profile(transfers); },
               {"transfers[1]: the same two ranks are there twice"});
}

}  // namespace
}  // namespace hios
