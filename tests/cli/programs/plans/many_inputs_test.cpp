// Many inputs at once, of which operators run some at a time: from profile to run.

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/programs/programs.h"

namespace hios::test {
namespace {

class ManyInputs : public testing::Test {
 protected:
  std::string file(const std::string& name) const { return folder_.file(name); }

  /// Measured for two and for four inputs at a time.
  void profile(std::size_t ranks) const {
    const auto measured =
        hios_profile(ranks, divided_ + Words{"--output", file("p.json"), "--force", "--warmup", "1",
                                             "--iterations", "2"});
    EXPECT_EQ(measured.exit_status, 0) << measured.err;
    EXPECT_NE(measured.err.find("squeezenet 2x3x48x48"), std::string::npos) << measured.err;
    EXPECT_NE(measured.err.find("squeezenet 4x3x48x48"), std::string::npos) << measured.err;
  }

  const Words model_ = {"--model", "squeezenet", "--height", "48"};
  const Words divided_ = model_ + Words{"--inputs", "4", "--parts", "2"};
  TestFolder folder_;
};

#ifdef HIOS_MPIEXEC
TEST_F(ManyInputs, AreMeasuredPlannedCheckedAndRunBitForBit) {
  profile(2);
  const Words two = divided_ + Words{"--profile", file("p.json"), "--devices", "2"};
  for (const std::string algorithm : {"heft", "best", "sequential"}) {
    SCOPED_TRACE(algorithm);
    const auto planned =
        hios_schedule(two + Words{"--algorithm", algorithm, "--time-limit", "1", "--output",
                                  file("s.json"), "--json", file("plan.json"), "--force"});
    ASSERT_EQ(planned.exit_status, 0) << planned.err;
    const Json schedule = read(file("s.json"));
    EXPECT_EQ(schedule["version"], 1);
    EXPECT_EQ(schedule["graph"]["batch"], 4);
    const double latency_ms = schedule["predicted"]["latency_ms"];
    EXPECT_NEAR(schedule["predicted"]["inputs_per_s"].get<double>(), 4000 / latency_ms, 1e-6);
    const auto checked =
        hios_schedule(model_ + Words{"--batch", "4", "--profile", file("p.json"), "--check",
                                     file("s.json"), "--json", file("c.json"), "--force"});
    EXPECT_EQ(checked.exit_status, 0) << checked.err << checked.out;
    EXPECT_NEAR(read(file("c.json"))["latency_ms"].get<double>(), latency_ms, 1e-9);
    const auto done =
        hios_run(2, Words{"--model", "squeezenet", "--schedule", file("s.json"), "--profile",
                          file("p.json"), "--verify=operators", "--warmup", "1", "--iterations",
                          "2", "--json", file("r.json"), "--force"});
    EXPECT_EQ(done.exit_status, 0) << done.out << done.err;
    const Json report = read(file("r.json"));
    EXPECT_TRUE(report["verified"]["passed"]);
    EXPECT_TRUE(report["verified"]["bitwise"]);
  }
}
#endif

TEST_F(ManyInputs, AreComparedWithCopies) {
  profile(1);
  const auto compared =
      hios_schedule(divided_ + Words{"--profile", file("p.json"), "--devices", "1", "--compare",
                                     "--algorithm", "heft", "--json", file("c.json")});
  ASSERT_EQ(compared.exit_status, 0) << compared.err;
  const Json rows = read(file("c.json"))["comparison"];
  ASSERT_EQ(rows.size(), 4u) << rows;  // sequential, ios, heft
  EXPECT_EQ(rows.back()["algorithm"], "copies");
  for (const Json& row : rows) {
    EXPECT_GT(row["inputs_per_s"], 0);
    EXPECT_LE(row["lower_bound_ms"], row["latency_ms"]);
  }
}

TEST_F(ManyInputs, ASizeThatWasNotMeasuredIsNamedWithItsRemedy) {
  profile(1);
  const auto refused =
      hios_schedule(model_ + Words{"--inputs", "3", "--parts", "3", "--profile", file("p.json"),
                                   "--devices", "1", "--algorithm", "heft"});
  EXPECT_EQ(refused.exit_status, 2);
  EXPECT_NE(refused.err.find("--inputs 3 --parts 3"), std::string::npos) << refused.err;
}

TEST_F(ManyInputs, AGraphBringsTimesByTheirNumber) {
  folder_.write("g.json", R"({"format": "hios-graph", "version": 1, "name": "g", "inputs": 4,
    "operators": [
      {"name": "a", "time_ms": {"fast": {"2": 1, "4": 1.5}, "slow": {"1": 1, "2": 2}}},
      {"name": "b", "time_ms": {"fast": {"2": 1, "4": 1.5}, "slow": {"1": 1, "2": 2}}}],
    "edges": [{"from": "a", "to": "b", "transfer_ms": 0.4}]})");
  folder_.write("p.json", R"({"format": "hios-platform", "version": 1, "devices": [
    {"name": "fast", "kind": "gpu", "streams": 1}, {"name": "slow", "kind": "cpu", "streams": 1}]})");
  const Words graph = {"--graph", file("g.json"), "--platform", file("p.json")};
  const auto planned =
      hios_schedule(graph + Words{"--parts", "4", "--algorithm", "best", "--time-limit", "1",
                                  "--output", file("s.json")});
  ASSERT_EQ(planned.exit_status, 0) << planned.err;
  const Json predicted = read(file("s.json"))["predicted"];
  EXPECT_DOUBLE_EQ(predicted["latency_ms"].get<double>(), 3) << "all at once on the fast device";
  EXPECT_LE(predicted["lower_bound_ms"], predicted["latency_ms"]);
  const auto checked = hios_schedule(graph + Words{"--check", file("s.json")});
  EXPECT_EQ(checked.exit_status, 0) << checked.err << checked.out;
  const auto exported = hios_schedule(graph + Words{"--export-graph", file("e.json")});
  EXPECT_EQ(exported.exit_status, 0) << exported.err;
  EXPECT_EQ(read(file("e.json"))["operators"][0]["time_ms"]["slow"]["1"], 1);
}

TEST_F(ManyInputs, AreExportedWithWhatTheyCost) {
  profile(1);
  const Words one = {"--profile", file("p.json"), "--devices", "1"};
  const auto exported = hios_schedule(divided_ + one + Words{"--export-graph", file("e.json")});
  ASSERT_EQ(exported.exit_status, 0) << exported.err;
  const auto planned = [&](const Words& graph, const std::string& output) {
    const auto done =
        hios_schedule(graph + Words{"--algorithm", "sequential", "--output", file(output)});
    EXPECT_EQ(done.exit_status, 0) << done.err;
    return read(file(output))["predicted"]["latency_ms"].get<double>();
  };
  EXPECT_NEAR(planned({"--graph", file("e.json"), "--parts", "2", "--devices", "1"}, "g.json"),
              planned(divided_ + one, "m.json"), 1e-9);
}

}  // namespace
}  // namespace hios::test
