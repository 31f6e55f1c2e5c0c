// fp16 and tf32 for a user: profile, schedule, run and verify, each with --math, on ranks of the
// reference backend; and flags that do not go together.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/programs/programs.h"
#include "support/schema.h"

namespace hios::test {
namespace {

#ifdef HIOS_MPIEXEC
constexpr std::size_t kRanks = 2;
#else
constexpr std::size_t kRanks = 1;
#endif

class Arithmetic : public testing::TestWithParam<const char*> {
 protected:
  const Words model_ = {"--model", "squeezenet", "--height", "48"};

  std::string file(const std::string& what, const std::string& math) const {
    return folder_.file(what + "-" + math + ".json");
  }

  void profile_in(const std::string& math, const Words& more = {}) {
    const auto done = hios_profile(
        kRanks, model_ +
                    Words{"--backend", "reference", "--math", math, "--output",
                          file("profile", math), "--warmup", "0", "--iterations", "1"} +
                    more);
    ASSERT_EQ(done.exit_status, 0) << done.err;
    expect_meets_schema(read(file("profile", math)));
  }

  ProcessResult schedule_in(const std::string& math, const std::string& profile,
                            const std::string& algorithm = "hios-lp") {
    return hios_schedule(model_ + Words{"--profile", profile, "--devices", std::to_string(kRanks),
                                        "--math", math, "--algorithm", algorithm, "--output",
                                        file("schedule", math), "--export-graph",
                                        file("graph", math), "--force"});
  }

  /// The report of a run that verifies every operator.
  Json run(const std::string& math, const Words& more = {}, int status = 0) {
    const auto done =
        hios_run(kRanks, model_ +
                             Words{"--backend", "reference", "--schedule", file("schedule", math),
                                   "--verify=operators", "--warmup", "0", "--iterations", "1",
                                   "--json", file("report", math), "--force"} +
                             more);
    EXPECT_EQ(done.exit_status, status) << done.out << done.err;
    const Json report = read(file("report", math));
    expect_meets_schema(report);
    return report;
  }

  void refused(const ProcessResult& result, const std::string& part) {
    EXPECT_EQ(result.exit_status, 2) << result.out << result.err;
    EXPECT_NE(result.err.find(part), std::string::npos) << result.err;
  }

  TestFolder folder_;
};

Bytes bytes_of_tensors(const Json& report) {
  Bytes sum = 0;
  for (const Json& rank : report["ranks"]) sum += rank["all_tensors_bytes"].get<Bytes>();
  return sum;
}

TEST_P(Arithmetic, GoesThroughAllThreePrograms) {
  const std::string math = GetParam();
  profile_in(math);
  const auto scheduled = schedule_in(math, file("profile", math));
  ASSERT_EQ(scheduled.exit_status, 0) << scheduled.err;
  const Json schedule = read(file("schedule", math));
  expect_meets_schema(schedule);
  for (const Json& device : schedule["devices"]) EXPECT_EQ(device["math"], math);

  const Json verified = run(math, {"--profile", file("profile", math)})["verified"];
  EXPECT_EQ(verified["math"], math);
  EXPECT_TRUE(verified["passed"]);
  EXPECT_TRUE(verified["bitwise"]);
  EXPECT_GT(verified["max_abs"], 0);
  EXPECT_GT(verified["atol"], 1e-3) << "fp32's tolerance";

  const Json strict = run(math, {"--atol", "1e-6", "--rtol", "0"}, 1)["verified"];
  EXPECT_EQ(strict["atol"], 1e-6);
  EXPECT_FALSE(strict["passed"]);
  EXPECT_TRUE(strict["bitwise"]);

  const auto checked = hios_schedule(
      model_ + Words{"--check", file("schedule", math), "--profile", file("profile", math)});
  EXPECT_EQ(checked.exit_status, 0) << checked.err;
}
INSTANTIATE_TEST_SUITE_P(In, Arithmetic, testing::Values("tf32", "fp16"),
                         [](const auto& test) { return std::string(test.param); });

using Halves = Arithmetic;

TEST_F(Halves, TakeHalfTheBytesOfFloats) {
  for (const std::string math : {"fp32", "fp16"}) {
    profile_in(math);
    // Measured times would give each arithmetic a placement of its own, with other received
    // tensors.
    ASSERT_EQ(schedule_in(math, file("profile", math), "sequential").exit_status, 0);
  }
  const Json wide = read(file("graph", "fp32"))["edges"],
             narrow = read(file("graph", "fp16"))["edges"];
  ASSERT_EQ(wide.size(), narrow.size());
  for (std::size_t i = 0; i < wide.size(); ++i) {
    EXPECT_EQ(wide[i]["bytes"].get<Bytes>(), 2 * narrow[i]["bytes"].get<Bytes>());
  }
  const Bytes floats = bytes_of_tensors(run("fp32")), halves = bytes_of_tensors(run("fp16"));
  EXPECT_LT(halves * 10, floats * 6);
}

TEST_F(Halves, DoNotGoWithWhatIsMadeForFloats) {
  profile_in("fp32");
  ASSERT_EQ(schedule_in("fp32", file("profile", "fp32")).exit_status, 0);
  refused(schedule_in("fp16", file("profile", "fp32")), "--math fp16");
  refused(hios_run(kRanks, model_ + Words{"--backend", "reference", "--math", "fp16", "--schedule",
                                          file("schedule", "fp32")}),
          "made for fp32, and --math says fp16");
  refused(hios_profile(kRanks, model_ + Words{"--backend", "reference", "--math", "fp16",
                                              "--stages", file("schedule", "fp32"), "--output",
                                              folder_.file("other.json")}),
          "measure its stages with the same");
  folder_.write("platform.json",
                R"({"format": "hios-platform", "version": 1, "devices": [
                   {"name": "a", "kind": "cpu", "math": "fp16"}, {"name": "b", "kind": "cpu"}]})");
  refused(hios_schedule(model_ + Words{"--platform", folder_.file("platform.json"), "--profile",
                                       file("profile", "fp32"), "--algorithm", "sequential"}),
          "whose tensors are not of one size");
  folder_.write("halves.json", R"({"format": "hios-platform", "version": 1, "devices": [
                   {"name": "a", "kind": "cpu", "math": "fp16"}]})");
  refused(hios_schedule(model_ + Words{"--check", file("schedule", "fp32"), "--platform",
                                       folder_.file("halves.json"), "--profile",
                                       file("profile", "fp32")}),
          "fp16 goes with fp16");
}

#ifdef HIOS_MPIEXEC
TEST_F(Halves, RanksOfTwoArithmeticsAreNotComparedWithOneRank) {
  profile_in("fp32");
  ASSERT_EQ(schedule_in("fp32", file("profile", "fp32")).exit_status, 0);
  Json schedule = read(file("schedule", "fp32"));
  schedule["devices"][1]["math"] = "tf32";
  folder_.write("schedule-tf32.json", schedule.dump());
  const Json verified = run("tf32")["verified"];
  EXPECT_EQ(verified["math"], "tf32") << "the rougher one's tolerance";
  EXPECT_TRUE(verified["passed"]);
  EXPECT_TRUE(verified["bitwise"].is_null());
  EXPECT_TRUE(verified["algorithms"].is_null());
}
#endif

}  // namespace
}  // namespace hios::test
