// Schedules on emulated machines, with the programs: planned, run, verified, reported and refused.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "support/programs/programs.h"
#include "support/refused.h"
#include "support/schema.h"

namespace hios::test {
namespace {

/// Two branches, which must run on two devices that load over one bus.
constexpr const char* kBranches = R"({"format": "hios-graph", "version": 1, "name": "branches",
  "operators": [
    {"name": "a", "time_ms": 0.2, "memory_bytes": 1000, "parameter_bytes": 100000,
     "allowed": ["gpu0"]},
    {"name": "b", "time_ms": 0.2, "memory_bytes": 1000, "parameter_bytes": 100000,
     "allowed": ["gpu1"]},
    {"name": "c", "time_ms": 0.2, "memory_bytes": 1000, "parameter_bytes": 100000,
     "allowed": ["gpu0"]}],
  "edges": [{"from": "a", "to": "c", "bytes": 1000}, {"from": "b", "to": "c", "bytes": 1000}]})";

constexpr const char* kPlatform = R"({"format": "hios-platform", "version": 1,
  "devices": [{"name": "gpu0", "kind": "gpu", "threads": 0},
              {"name": "gpu1", "kind": "gpu", "threads": 0}],
  "stores": [{"name": "dram", "kind": "memory"}, {"name": "ssd", "kind": "disk"}],
  "buses": [{"name": "pcie", "gb_per_s": 1}],
  "routes": [
    {"from": "dram", "to": "gpu0", "over": ["pcie"], "latency_ms": 0.01, "gb_per_s": 1},
    {"from": "dram", "to": "gpu1", "over": ["pcie"], "latency_ms": 0.01, "gb_per_s": 1},
    {"from": "gpu0", "to": "gpu1", "over": ["pcie"], "latency_ms": 0.01, "gb_per_s": 1},
    {"from": "gpu1", "to": "gpu0", "over": ["pcie"], "latency_ms": 0.01, "gb_per_s": 1}]})";

class Emulated : public testing::Test {
 protected:
  void SetUp() override {
    folder_.write("g.json", kBranches);
    folder_.write("p.json", kPlatform);
    const auto done = hios_schedule({"--graph", folder_.file("g.json"), "--platform",
                                     folder_.file("p.json"), "--objective", "cold-start",
                                     "--algorithm", "hios-lp", "--output", folder_.file("s.json")});
    ASSERT_EQ(done.exit_status, 0) << done.err;
  }
  ProcessResult run(std::size_t ranks, const Words& more) {
    return hios_run(ranks,
                    Words{"--backend", "emulated", "--graph", folder_.file("g.json"), "--schedule",
                          folder_.file("s.json"), "--iterations", "2", "--warmup", "0"} +
                        more);
  }
  Words platform() const { return {"--platform", folder_.file("p.json")}; }

  TestFolder folder_;
};

#ifdef HIOS_MPIEXEC
TEST_F(Emulated, TwoRanksLoadAndSendOverOneBus) {
  const Words files = {"--json", folder_.file("r.json"), "--outputs", folder_.file("outputs")};
  // An error is a share of the emulated time, which is longer than predicted, or little shorter.
  const auto done = run(2, platform() + files +
                               Words{"--verify=operators", "--time-scale", "2", "--csv", "-",
                                     "--layers", "--max-error", "100"});
  ASSERT_EQ(done.exit_status, 0) << done.out << done.err;
  const std::string shown = done.out + done.err;
  EXPECT_NE(shown.find("3 digests compared: those of one rank"), std::string::npos) << shown;
  EXPECT_NE(shown.find("(emulated)"), std::string::npos) << shown;
  EXPECT_NE(done.out.find(",emulated,2"), std::string::npos) << done.out;
  const Json report = read(folder_.file("r.json"));
  expect_meets_schema(report);
  EXPECT_EQ(report["protocol"]["emulated"]["time_scale"], 2);
  EXPECT_EQ(report["protocol"]["executor"], "fifo");
  EXPECT_EQ(report["verified"]["reference"], "emulated");
  EXPECT_EQ(report["verified"]["bitwise"], true);
  EXPECT_EQ(report["loads"].size(), 3u);
  EXPECT_EQ(report["transfer_path"], "emulated buses");
  const double planned_ms = read(folder_.file("s.json"))["predicted"]["latency_ms"].get<double>();
  EXPECT_NEAR(report["predicted_ms"].get<double>(), 2 * planned_ms, 1e-6 * planned_ms);
  ASSERT_EQ(report["operators"].size(), 3u);
  for (const Json& op : report["operators"]) {
    EXPECT_NEAR(op["predicted_ms"].get<double>(), 0.4, 1e-9);
    EXPECT_EQ(op["output_bytes"], 1000);
    EXPECT_EQ(op["sent_bytes"], op["operator"] == "b" ? 1000 : 0);
  }
  const Json outputs = read(folder_.file("outputs/outputs.json"))["outputs"];
  ASSERT_EQ(outputs.size(), 1u);
  EXPECT_EQ(outputs[0]["name"], "c");
  const auto ready =
      run(2, platform() + Words{"--executor", "ready", "--verify", "--force", "--json",
                                folder_.file("r.json"), "--trace", folder_.file("trace.json")});
  ASSERT_EQ(ready.exit_status, 0) << ready.out << ready.err;
  std::size_t from_dram = 0;
  const Json trace = read(folder_.file("trace.json"));
  for (const Json& event : trace["traceEvents"]) {
    if (event.contains("args") && event["args"].value("from", "") == "dram") ++from_dram;
  }
  EXPECT_EQ(from_dram, 6u) << "three loads, planned and measured";
  EXPECT_EQ(read(folder_.file("r.json"))["protocol"]["executor"], "ready");
  const auto judged = run(2, platform() + Words{"--max-error", "0"});
  EXPECT_EQ(judged.exit_status, 1) << judged.out << judged.err;
  EXPECT_NE(judged.err.find("--max-error"), std::string::npos) << judged.err;
}
#endif

TEST_F(Emulated, IsRefusedInOneLineWhereItDoesNotFit) {
  expect_refused(run(1, {}), "add --platform");
  expect_refused(run(1, platform() + Words{"--time-scale", "0"}), "--time-scale");
  for (const char* scale : {"-1", "1e7", "1e-7", "nan"}) {
    expect_refused(run(1, platform() + Words{"--time-scale", scale}), "--time-scale");
  }
  expect_refused(run(1, platform() + Words{"--model", "squeezenet"}),
                 "no model: give --graph FILE");
  expect_refused(run(1, platform() + Words{"--math", "fp16"}), "--math is for runs that compute");
  expect_refused(run(1, platform() + Words{"--executor", "lifo"}),
                 "--executor takes fifo or ready");
  expect_refused(run(1, platform()), "the schedule has 2 devices and the job 1 ranks");
  expect_refused(hios_run(1, {"--model", "squeezenet", "--time-scale", "2"}),
                 "--time-scale is for a machine that is emulated");
  expect_refused(hios_run(1, {"--backend", "emulated,cpu", "--graph", folder_.file("g.json")}),
                 "--backend emulated is for all ranks");
  Json graph = read(folder_.file("g.json"));
  graph["operators"][1].erase("time_ms");
  folder_.write("g.json", graph.dump());
  expect_refused(run(1, platform()), "operator b has no time_ms");
}

// Names alone do not tell a platform from another.
TEST_F(Emulated, ThePlatformIsThatOfTheSchedule) {
  const Json platform_json = read(folder_.file("p.json"));
  const auto expect_refused_with = [&](const char* member, const Json& value) {
    Json changed = platform_json;
    for (Json& device : changed["devices"]) {
      device["threads"] = 1;  // does not count
      device[member] = value;
    }
    folder_.write("p.json", changed.dump());
    expect_refused(run(1, platform()), std::string("$.devices[0].") + member);
  };
  expect_refused_with("math", "fp16");
  expect_refused_with("memory_bytes", 1'000'000);
  expect_refused_with("streams", 2);
  expect_refused_with("kind", "npu");
  Json fewer = platform_json;
  fewer["stores"].erase(std::size_t{0});
  fewer["routes"].erase(std::size_t{1});
  fewer["routes"].erase(std::size_t{0});
  folder_.write("p.json", fewer.dump());
  expect_refused(run(1, platform()), "dram");
}

}  // namespace
}  // namespace hios::test
