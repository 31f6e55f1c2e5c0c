// Platforms of machines, with the programs: found or read by hios-profile, scheduled for.

#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/programs/programs.h"
#include "support/refused.h"
#include "support/schema.h"

namespace hios::test {
namespace {

const std::string kMachines = HIOS_SOURCE_DIR "/tests/data/machines/";

TEST(WritePlatform, AnotherMachinesPlatformIsScheduledFor) {
  const TestFolder folder;
  for (const std::string name : {"laptop", "v100-server"}) {
    const std::string platform = folder.file(name + ".json");
    const auto written =
        hios_profile(1, {"--write-platform", platform, "--topology", kMachines + name + ".xml"});
    ASSERT_EQ(written.exit_status, 0) << written.err;
    EXPECT_NE(written.out.find("neither reported nor measured, but assumed"), std::string::npos);
    EXPECT_EQ(written.err, "");
    const Json json = read(platform);
    expect_meets_schema(json);
    EXPECT_FALSE(json["extra"].contains("measured"));
    const auto planned =
        hios_schedule({"--random", "n=20,edges=30,layers=5,seed=1,parameters=1000-100000",
                       "--platform", platform, "--objective", "cold-start", "--algorithm",
                       "pipelined", "--output", folder.file(name + "-schedule.json")});
    EXPECT_EQ(planned.exit_status, 0) << planned.err;
  }
}

// The folder is in memory, so that no disk is measured: that would write 256 MB. hwloc gives the
// laptop for this machine, so that there is one node, however many this machine has.
TEST(WritePlatform, ThisMachinesMemoryIsMeasured) {
  const TestFolder folder;
  const auto done = hios_profile(1,
                                 {"--write-platform", folder.file("p.json"), "--backend",
                                  "reference", "--disk-folder", "/dev/shm"},
                                 {.environment = {{"HWLOC_XMLFILE", kMachines + "laptop.xml"}}});
  ASSERT_EQ(done.exit_status, 0) << done.err;
  EXPECT_NE(done.err.find("no direct reads there"), std::string::npos) << done.err;
  const Json json = read(folder.file("p.json"));
  expect_meets_schema(json);
  ASSERT_FALSE(json["extra"]["measured"].empty());
  EXPECT_EQ(json["extra"]["measured"].size(), 1u);
  for (const Json& route : json["extra"]["measured"]) {
    EXPECT_EQ(route["from"], "dram");
    EXPECT_EQ(route["to"], "cpu0");
    EXPECT_GT(route["alone_gb_per_s"], 0);
  }
}

TEST(WritePlatform, BadMachinesAreRefusedBeforeAnythingIsMeasured) {
  const TestFolder folder;
  folder.write("m.xml", "<?xml version=\"1.0\"?>\n<topology version=\"2.0\">\n</topology>\n");
  expect_refused(hios_profile(1, {"--write-platform", folder.file("p.json"), "--topology",
                                  folder.file("m.xml")}),
                 "m.xml: no machine that hwloc can read");
  expect_refused(hios_profile(1, {"--write-platform", folder.file("p.json"), "--topology",
                                  kMachines + "laptop.xml", "--threads", "9"}),
                 "laptop.xml: the machine has no GPU that can compute, and 8 cores");
  EXPECT_FALSE(std::filesystem::exists(folder.file("p.json")));
}

}  // namespace
}  // namespace hios::test
