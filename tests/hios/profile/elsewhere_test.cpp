#include "hios/profile/elsewhere.h"

#include <gtest/gtest.h>

#include <array>
#include <nlohmann/json.hpp>

namespace hios {
namespace {

Configuration measured_with(Json machine, std::size_t ranks = 2) {
  Configuration configuration;
  configuration.kind = "cpu";
  configuration.ranks = ranks;
  configuration.machine = std::move(machine);
  return configuration;
}

const Surrounding kThisMachine{.processor = "AMD EPYC 9R14",
                               .host = "n7",
                               .library = "oneDNN 2.6.3",
                               .mpi = "Open MPI 4.1.4",
                               .version = "0.1.0",
                               .commit = "1c4bbc0f9a21",
                               .build = "g++ 12.2.0, Release"};

Json machine_here() {
  return {{"processor", "AMD EPYC 9R14"},
          {"backend", {{"library", "oneDNN 2.6.3"}}},
          {"transport", "Open MPI 4.1.4, shared memory with CMA"},
          {"hosts", Json::array({"n1", "n1"})},
          {"hios", "0.1.0"},
          {"commit", "1c4bbc0f9a21"},
          {"build", "g++ 12.2.0, Release"}};
}

TEST(Elsewhere, IsNotAnotherHostOfTheSameKind) {
  EXPECT_EQ(differences(measured_with(machine_here()), kThisMachine), "");
}

TEST(Elsewhere, IsAnotherProcessor) {
  Json machine = machine_here();
  machine["processor"] = "Intel(R) Core(TM) i3-8100";
  EXPECT_EQ(differences(measured_with(machine), kThisMachine),
            "processor Intel(R) Core(TM) i3-8100 on n1 (here AMD EPYC 9R14 on n7)");
  machine["hosts"] = Json::array({"n1", "n2", "n1"});
  EXPECT_EQ(differences(measured_with(machine), kThisMachine),
            "processor Intel(R) Core(TM) i3-8100 on n1, n2 (here AMD EPYC 9R14 on n7)");
}

TEST(Elsewhere, IsWhereRanksCopyWhatTheyShared) {
  Configuration measured = measured_with(machine_here());
  Surrounding here = kThisMachine;
  here.copies = true;
  measured.transfers = {{0, 1, {{1024, 1}}}};
  EXPECT_EQ(differences(measured, here), "");
  measured.transfers[0].shared = {{1024, 0.5}};
  EXPECT_EQ(differences(measured, here), "memory that ranks share (here tensors are copied)");
  EXPECT_EQ(differences(measured, kThisMachine), "");
}

TEST(Elsewhere, IsAnotherBuildOrLibrary) {
  Json machine = machine_here();
  machine["commit"] = "aaaabbbbcccc";
  machine["hios"] = "0.2.0";
  machine["backend"]["library"] = "oneDNN 3.2.0";
  machine["transport"] = "Open MPI 5.0.11, shared memory with CMA";
  EXPECT_EQ(differences(measured_with(machine), kThisMachine),
            "oneDNN 3.2.0 (here oneDNN 2.6.3), Open MPI 5.0.11 (here Open MPI 4.1.4), hios 0.2.0 "
            "(here 0.1.0), commit aaaabbbbcccc (here 1c4bbc0f9a21)");
}

TEST(Elsewhere, IsABuildOfAnotherKind) {
  Json machine = machine_here();
  machine["build"] = "g++ 12.2.0, Debug";
  EXPECT_EQ(differences(measured_with(machine), kThisMachine),
            "built by g++ 12.2.0, Debug (here g++ 12.2.0, Release)");
}

TEST(Elsewhere, ComparesOnlyWhatBothKnow) {
  EXPECT_EQ(differences(measured_with(Json::object()), kThisMachine), "");
  EXPECT_EQ(differences(measured_with(machine_here()), {}), "");
  EXPECT_EQ(differences(measured_with({{"transport", "one rank"}}, 1), kThisMachine), "")
      << "one rank sends nothing";
}

TEST(Elsewhere, TakesValuesOfAnotherTypeAsMissing) {
  for (const Json& odd : {Json(7), Json::array({1}), Json::object({{"a", 1}}), Json(nullptr)}) {
    Json machine = machine_here();
    for (const char* key : {"processor", "backend", "transport", "hosts", "hios", "commit"})
      machine[key] = odd;
    EXPECT_EQ(differences(measured_with(machine), kThisMachine), "") << odd;
    EXPECT_EQ(differences(measured_with(odd), kThisMachine), "") << odd;
  }
}

TEST(Elsewhere, LeavesAGpuToItsIdentity) {
  Json machine = machine_here();
  machine["processor"] = "another";
  machine["backend"] = {{"gpu", "NVIDIA H200"}, {"library", "cuDNN 9.1"}};
  Configuration gpu = measured_with(machine);
  gpu.kind = "gpu";
  ASSERT_FALSE(gpu.identity().empty());
  EXPECT_EQ(differences(gpu, kThisMachine), "");
}

TEST(Elsewhere, NamesFileAndEachDifferenceOnce) {
  Profile profile;
  profile.file = "p.json";
  Json machine = machine_here();
  machine["commit"] = "aaaabbbbcccc";
  profile.configurations.push_back(measured_with(machine));
  const Platform platform = Platform::homogeneous(2, "cpu", 1, 1);
  const std::string text = "p.json: measured with commit aaaabbbbcccc (here 1c4bbc0f9a21)";
  EXPECT_EQ(measured_elsewhere(profile, platform, std::array{kThisMachine}), text);
  EXPECT_EQ(measured_elsewhere(profile, platform, std::array{kThisMachine, kThisMachine}), text);
  Surrounding other = kThisMachine;
  other.commit = "ddddeeeeffff";
  EXPECT_EQ(measured_elsewhere(profile, platform, std::array{kThisMachine, other}),
            text + "; commit aaaabbbbcccc (here ddddeeeeffff)");
  profile.configurations.clear();
  EXPECT_EQ(measured_elsewhere(profile, platform, std::array{kThisMachine}), "");
}

}  // namespace
}  // namespace hios
