// Ranks that are not alike on one machine: one with all instructions of the processor, one capped.
// Profiled together, planned as two kinds of devices, run and verified; and what is refused. And
// what devices hold: reported, and refused above their memory_bytes.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "hios/platform/cpu_kinds.h"
#include "support/programs/programs.h"
#include "support/refused.h"
#include "support/schema.h"

namespace hios::test {
namespace {

/// Ranks of two kinds with a small SqueezeNet; every processor of this build has SSE 4.1.
class MixedRanks : public testing::Test {
 protected:
  const Words model_ = {"--model", "squeezenet", "--height", "48"};

  void profile(const std::string& backends, std::size_t ranks, const std::string& name) {
    const auto done = hios_profile(
        ranks, model_ + Words{"--backend", backends, "--warmup", "0", "--iterations", "2",
                              "--stages", "none", "--output", folder_.file(name)});
    ASSERT_EQ(done.exit_status, 0) << done.err;
    expect_meets_schema(read(folder_.file(name)));
  }

  /// A platform of one thread a device; 0: no limit.
  std::string platform(const Words& kinds, std::uint64_t memory_bytes = 0) {
    Json devices = Json::array();
    for (const std::string& kind : kinds) {
      Json device = {{"name", kind + "_" + std::to_string(devices.size())}, {"kind", kind}};
      if (memory_bytes > 0) device["memory_bytes"] = memory_bytes;
      devices.push_back(device);
    }
    folder_.write("platform.json",
                  Json{{"format", "hios-platform"}, {"version", 1}, {"devices", devices}}.dump());
    return folder_.file("platform.json");
  }

  ProcessResult schedule(const std::string& platform, const std::string& algorithm,
                         const std::string& profile = "profile.json") {
    return hios_schedule(model_ + Words{"--profile", folder_.file(profile), "--platform", platform,
                                        "--algorithm", algorithm, "--output",
                                        folder_.file("schedule.json"), "--force"});
  }

  ProcessResult run(std::size_t ranks, const Words& more) {
    return hios_run(
        ranks, model_ +
                   Words{"--schedule", folder_.file("schedule.json"), "--warmup", "0",
                         "--iterations", "2", "--json", folder_.file("report.json"), "--force"} +
                   more);
  }

  TestFolder folder_;
};

#ifdef HIOS_HAVE_CPU

void expect_done(const ProcessResult& result) {
  EXPECT_EQ(result.exit_status, 0) << result.out << result.err;
}

TEST_F(MixedRanks, OneCappedRankIsProfiledPlannedRunAndVerified) {
  profile("cpu:sse41", 1, "profile.json");
  const Json known = read(folder_.file("profile.json")).at("configurations").at(0);
  EXPECT_EQ(known.at("kind"), "cpu-sse41");
  EXPECT_EQ(known.at("machine").at("backend").at("isa"), "sse41");
  EXPECT_EQ(known.at("machine").at("backend").at("kernels"), "baseline");
  expect_done(hios_schedule(model_ + Words{"--profile", folder_.file("profile.json"), "--devices",
                                           "1", "--kind", "cpu-sse41", "--algorithm", "sequential",
                                           "--output", folder_.file("schedule.json")}));
  const Json device = read(folder_.file("schedule.json")).at("devices").at(0);
  EXPECT_EQ(device.at("kind"), "cpu-sse41");
  EXPECT_EQ(device.at("threads"), 1);
  const auto done = run(1, {"--backend", "cpu:sse41", "--verify"});
  expect_done(done);
  EXPECT_NE(done.out.find("bit for bit the result of one rank"), std::string::npos) << done.out;
  // Another kind, and which it would be.
  expect_refused(
      run(1, {"--backend", "cpu"}),
      "the schedule wants a device of kind cpu-sse41, and rank 0 has the cpu backend, of "
      "kind cpu: start it with --backend cpu:sse41, or schedule for --kind cpu");
}

TEST_F(MixedRanks, MissingDevicesAreRefused) {
  for (const char* cap : {"cpu:avx3", "cpu:", "cpu:AVX2", "reference:avx2"}) {
    expect_refused(
        hios_profile(1, model_ + Words{"--backend", cap, "--output", folder_.file("p.json")}),
        "unknown backend '" + std::string(cap) +
            "'; known are auto, cpu, reference, cuda, "
            "cpu:sse41");
  }
  expect_refused(hios_schedule(model_ + Words{"--kind", "cpu-avx3", "--algorithm", "best"}),
                 "--kind takes cpu or gpu, not 'cpu-avx3', or with capped instructions cpu-sse41");
}

#ifdef HIOS_MPIEXEC

TEST_F(MixedRanks, UnlikeRanksAreProfiledPlannedRunAndVerified) {
  profile("cpu,cpu:sse41", 2, "profile.json");
  const Json configurations = read(folder_.file("profile.json")).at("configurations");
  ASSERT_EQ(configurations.size(), 2u);
  for (const Json& each : configurations) {
    EXPECT_EQ(each.at("devices"), (Json{"cpu", "cpu-sse41"}));
    EXPECT_EQ(each.at("backend"), "cpu");
    EXPECT_EQ(each.at("transfers").size(), 1u) << "to the rank of the other kind";
  }
  for (const char* algorithm : {"hios-lp", "best"}) {
    expect_done(schedule(platform({"cpu", "cpu-sse41"}), algorithm));
    const auto done = run(2, {"--backend", "cpu,cpu:sse41", "--verify=operators", "--profile",
                              folder_.file("profile.json")});
    expect_done(done);
    EXPECT_NE(done.out.find("not compared with one rank, as backends"), std::string::npos)
        << done.out;
    const Json report = read(folder_.file("report.json"));
    expect_meets_schema(report);
    EXPECT_TRUE(report.at("verified").at("passed"));
    EXPECT_TRUE(report.at("verified").at("bitwise").is_null());
    EXPECT_EQ(report.at("ranks").at(1).at("backend").at("isa"), "sse41");
  }
  for (const char* others : {"cpu", "cpu:sse41", "cpu:sse41,cpu"}) {
    const auto refused = run(2, {"--backend", others});
    expect_refused(refused, "start it with --backend cpu,cpu:sse41, or schedule for --kind ");
    expect_refused(refused, std::string("rank ") + (others[3] == ':' ? "0" : "1") + " has the ");
  }
  // A plan for devices that nobody measured names the command that would.
  expect_refused(schedule(platform({"cpu-avx", "cpu"}), "hios-lp"),
                 "--backend cpu:avx,cpu --threads 1");
}

/// Where one device holds 60 % of it, two are needed, and suffice.
TEST_F(MixedRanks, TwoDevicesHoldANetworkThatOneCannot) {
  profile("cpu,cpu:sse41", 2, "profile.json");
  expect_done(hios_schedule(model_ + Words{"--profile", folder_.file("profile.json"), "--platform",
                                           platform({"cpu", "cpu-sse41"}), "--export-graph",
                                           folder_.file("graph.json")}));
  std::uint64_t all = 0;
  const Json graph = read(folder_.file("graph.json"));
  for (const Json& op : graph.at("operators")) {
    all +=
        op.at("memory_bytes").get<std::uint64_t>() + op.value("parameter_bytes", std::uint64_t{0});
  }
  const std::uint64_t share = all * 6 / 10;
  profile("cpu", 1, "alone.json");
  expect_refused(schedule(platform({"cpu"}, share), "sequential", "alone.json"), "memory");
  expect_done(schedule(platform({"cpu"}), "sequential", "alone.json"));
  Json plan = read(folder_.file("schedule.json"));
  plan["devices"][0]["memory_bytes"] = share;
  folder_.write("schedule.json", plan.dump());
  expect_refused(run(1, {"--backend", "cpu"}), "outputs and parameters take");
  expect_done(schedule(platform({"cpu", "cpu-sse41"}, share), "hios-lp"));
  EXPECT_EQ(read(folder_.file("schedule.json")).at("devices").at(1).at("memory_bytes"), share);
  expect_done(run(2, {"--backend", "cpu,cpu:sse41", "--verify"}));
  const Json report = read(folder_.file("report.json"));
  for (const Json& rank : report.at("ranks")) {
    EXPECT_EQ(rank.at("memory_bytes"), share);
    EXPECT_LE(rank.at("held_bytes"), share);
    EXPECT_GT(rank.at("weights_bytes"), 0);
  }
}

/// A rank holds more than its operators' outputs and parameters: what it receives, and the input.
TEST_F(MixedRanks, ARankThatWouldHoldMoreThanItsDeviceIsRefused) {
  profile("cpu,cpu:sse41", 2, "profile.json");
  expect_done(schedule(platform({"cpu", "cpu-sse41"}), "sequential"));
  Json schedule = read(folder_.file("schedule.json"));
  Json &first = schedule["devices"][0]["stages"], &second = schedule["devices"][1]["stages"];
  if (first.empty()) std::swap(first, second);  // measured while the machine did something else
  second.push_back(first.back());               // the last average, of which little comes out
  first.erase(first.size() - 1);
  const int outputs_and_parameters = 1000 * 4;
  schedule["devices"][1]["memory_bytes"] = outputs_and_parameters;
  folder_.write("schedule.json", schedule.dump());
  const Words mixed = {"--backend", "cpu,cpu:sse41"};
  expect_refused(run(2, mixed), "schedule.json: $.devices[1].memory_bytes: rank 1 would hold ");
  expect_refused(
      hios_run(2, model_ + mixed + Words{"--schedule", folder_.file("schedule.json"), "--dry-run"}),
      "cpu-sse41_1 has 4000: schedule for more devices, or for more memory");
  schedule["devices"][1]["memory_bytes"] = 1 << 20;
  folder_.write("schedule.json", schedule.dump());
  expect_done(run(2, mixed));
}

#endif  // HIOS_MPIEXEC

TEST_F(MixedRanks, AReportListsTheMemoryOfARank) {
  profile("cpu", 1, "profile.json");
  expect_done(schedule(platform({"cpu"}), "sequential"));
  expect_done(run(1, {"--backend", "cpu"}));
  const Json rank = read(folder_.file("report.json")).at("ranks").at(0);
  const auto bytes = [&](const char* key) { return rank.at(key).get<std::uint64_t>(); };
  const std::uint64_t held = bytes("held_bytes");
  EXPECT_EQ(held, bytes("arena_bytes") + bytes("input_bytes") + bytes("weights_bytes") +
                      bytes("scratch_bytes"));
  EXPECT_EQ(bytes("memory_bytes"), 0u) << "no limit";
  EXPECT_GE(bytes("weights_bytes"), 4'000'000u) << "SqueezeNet's parameters";

  Json schedule = read(folder_.file("schedule.json"));
  schedule["devices"][0]["memory_bytes"] = 1000;
  folder_.write("schedule.json", schedule.dump());
  expect_refused(run(1, {"--backend", "cpu"}), "$.devices[0]");
  schedule["devices"][0]["memory_bytes"] = std::uint64_t{1} << 40;
  folder_.write("schedule.json", schedule.dump());
  expect_done(run(1, {"--backend", "cpu"}));
  EXPECT_EQ(read(folder_.file("report.json")).at("ranks").at(0).at("memory_bytes"),
            std::uint64_t{1} << 40);
}

#endif  // HIOS_HAVE_CPU

}  // namespace
}  // namespace hios::test
