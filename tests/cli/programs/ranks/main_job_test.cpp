// The main job as a user does it: profile, schedule, run, verify; every file that comes out meets
// its schema.

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <string_view>

#include "support/programs/programs.h"
#include "support/sanitized.h"
#include "support/schema.h"

namespace hios::test {
namespace {

// Small, so that the reference backend verifies every operator in seconds.
struct Network {
  const char* name;
  const char* size;
};
std::ostream& operator<<(std::ostream& out, const Network& network) { return out << network.name; }

// Under a sanitizer two networks, as each takes a minute there.
const std::vector<Network> kNetworks =
    kSanitized ? std::vector<Network>{{"inception_v3", "75"}, {"squeezenet", "48"}}
               : std::vector<Network>{{"inception_v3", "107"},
                                      {"nasnet_large", "67"},
                                      {"squeezenet", "64"},
                                      {"randwire_large", "64"}};

// Each schedule is verified by the reference, which takes long: all schedulers for the network that
// takes least, those of several streams for the others, one under a sanitizer.
std::vector<const char*> algorithms_for(const Network& network) {
  if (kSanitized) return {"hios-lp"};
  if (network.name != std::string_view("squeezenet")) return {"hios-lp", "hios-mr"};
  return {"hios-lp", "sequential", "inter-lp", "inter-mr", "hios-mr"};
}

class MainJob : public testing::TestWithParam<Network> {
 protected:
  Words model() const { return {"--model", GetParam().name, "--height", GetParam().size}; }
  std::string profile() const { return folder_.file("profile.json"); }

  void profile_on(std::size_t ranks, const Words& more) {
    const auto done = hios_profile(
        ranks,
        model() + Words{"--output", profile(), "--update", "--warmup", "1", "--iterations", "2"} +
            more,
        {.limit_s = 300});
    ASSERT_EQ(done.exit_status, 0) << done.err;
    expect_meets_schema(read(profile()));
  }

  std::string schedule_for(const std::string& algorithm, const Words& more) {
    const std::string file = folder_.file("schedule-" + algorithm + ".json");
    const auto done = hios_schedule(
        model() +
        Words{"--profile", profile(), "--algorithm", algorithm, "--output", file, "--force"} +
        more);
    EXPECT_EQ(done.exit_status, 0) << done.err;
    expect_meets_schema(read(file));
    return file;
  }

  /// Runs it, every operator verified, and returns the report.
  Json run_verified(std::size_t ranks, const std::string& schedule) {
    const std::string report = folder_.file("report.json");
    const auto done = hios_run(
        ranks,
        model() + Words{"--schedule", schedule, "--profile", profile(), "--verify=operators",
                        "--warmup", "1", "--iterations", "3", "--json", report, "--trace",
                        folder_.file("trace.json"), "--force"},
        {.limit_s = 300});
    EXPECT_EQ(done.exit_status, 0) << done.out << done.err;
    expect_meets_schema(read(report));
    return read(report);
  }

  TestFolder folder_;
};

TEST_P(MainJob, OneRankWithTwoStreams) {
  profile_on(1, {"--threads", "2", "--streams", "2", "--stages", "ios", "--time-limit",
                 "3"});
  const std::string schedule =
      schedule_for("ios", {"--devices", "1", "--threads", "2", "--streams", "2"});
  const Json report = run_verified(1, schedule);
  EXPECT_TRUE(report["verified"]["bitwise"]);
  EXPECT_TRUE(report["verified"]["passed"]);
}

#ifdef HIOS_MPIEXEC
TEST_P(MainJob, TwoRanksEveryScheduler) {
  profile_on(2, {"--threads", "1"});
  for (const char* algorithm : algorithms_for(GetParam())) {
    SCOPED_TRACE(algorithm);
    const Json report = run_verified(2, schedule_for(algorithm, {"--devices", "2"}));
    EXPECT_TRUE(report["verified"]["bitwise"]);
    EXPECT_TRUE(report["verified"]["passed"]);
    EXPECT_EQ(report["ranks"].size(), 2u);
    EXPECT_EQ(report["environment"]["OMPI_MCA_btl"], "self,vader");
    EXPECT_EQ(report["date"].get<std::string>().size(), 20u);
    EXPECT_TRUE(report["versions"]["commit"].is_string());
    EXPECT_GT(report["predicted_ms"].get<double>(), 0);
    EXPECT_TRUE(report["why"]["measured"]);
    EXPECT_EQ(report["why"]["devices"].size(), 2u);
    EXPECT_EQ(report["why"]["devices"][1]["name"], "rank 1");
    EXPECT_EQ(report["why"]["gains"]["bounds"].size(), 2u);
    EXPECT_FALSE(report["why"]["sentences"].empty());
  }
}
#endif

/// Other readers of our models (bench/gpu) read the model that the programs compute.
TEST_P(MainJob, AnExportedModelIsTheSameModel) {
  const std::string file = folder_.file("model.json"), again = folder_.file("again.json");
  ASSERT_EQ(hios_schedule(model() + Words{"--export-model", file}).exit_status, 0);
  expect_meets_schema(read(file));
  ASSERT_EQ(hios_schedule({"--model", file, "--export-model", again}).exit_status, 0);
  EXPECT_EQ(read(file), read(again));
  EXPECT_EQ(read(file)["name"], GetParam().name);
}

INSTANTIATE_TEST_SUITE_P(Networks, MainJob, testing::ValuesIn(kNetworks),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace hios::test
