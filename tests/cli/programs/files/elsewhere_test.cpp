// A profile that another machine or another build measured is never used silently.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "support/programs/programs.h"

namespace hios::test {
namespace {

constexpr const char* kMeasuredModel = HIOS_SOURCE_DIR "/tests/corpus/model_ok.json";
constexpr const char* kWarningsEnd =
    ": plans and predictions by it hold for that, not for this; measure again with hios-profile, "
    "into a new file";

class ProfilesFromElsewhere : public testing::Test {
 protected:
  void SetUp() override {
    const auto measured = hios_profile(1, {kMeasuredModel, "--iterations", "2", "--warmup", "0",
                                           "--output", folder_.file("p.json")});
    ASSERT_EQ(measured.exit_status, 0) << measured.err;
    profile_ = read(folder_.file("p.json"));
  }

  /// Writes the profile with another machine.
  void edit(const std::string& key, const Json& value) {
    Json edited = profile_;
    ASSERT_TRUE(edited["configurations"][0]["machine"].contains(key)) << key;
    edited["configurations"][0]["machine"][key] = value;
    folder_.write("p.json", edited.dump());
  }

  ProcessResult plan(const Words& more = {}) const {
    return hios_schedule(Words{kMeasuredModel, "--devices", "1", "--algorithm", "sequential",
                               "--profile", folder_.file("p.json")} +
                         more);
  }
  ProcessResult run(const Words& more = {}) const {
    return hios_run(1, Words{kMeasuredModel, "--iterations", "2", "--warmup", "0", "--profile",
                             folder_.file("p.json")} +
                           more);
  }

  /// The program ends well, and warns once, in one line, with -q, too.
  void expect_warning(const std::string& difference) const {
    for (const Words& more : {Words{}, Words{"-q"}}) {
      for (const ProcessResult& done : {plan(more), run(more)}) {
        EXPECT_EQ(done.exit_status, 0) << done.err;
        const auto warnings = lines_with(done.err, "p.json: measured with ");
        ASSERT_EQ(warnings.size(), 1u) << done.err;
        EXPECT_EQ(warnings.front(), "warning: " + folder_.file("p.json") + ": measured with " +
                                        difference + kWarningsEnd);
      }
    }
  }

  TestFolder folder_;
  Json profile_;
};

TEST_F(ProfilesFromElsewhere, FromThisMachineComeWithoutAWarning) {
  edit("hosts", Json::array({"another-host-of-the-cluster"}));
  for (const ProcessResult& done : {plan(), run()}) {
    EXPECT_EQ(done.exit_status, 0) << done.err;
    EXPECT_EQ(lines_with(done.err, "measured with").size(), 0u) << done.err;
  }
}

TEST_F(ProfilesFromElsewhere, NameBothProcessorsAndTheHost) {
  const Json machine = profile_["configurations"][0]["machine"];
  edit("processor", "Intel(R) Core(TM) i3-8100 CPU @ 3.60GHz");
  const std::string host = machine["hosts"][0];
  expect_warning("processor Intel(R) Core(TM) i3-8100 CPU @ 3.60GHz on " + host + " (here " +
                 machine["processor"].get<std::string>() + " on " + host + ")");
}

TEST_F(ProfilesFromElsewhere, NameBothVersions) {
  const std::string version = profile_["configurations"][0]["machine"]["hios"];
  edit("hios", "0.0.7");
  expect_warning("hios 0.0.7 (here " + version + ")");
}

TEST_F(ProfilesFromElsewhere, NameBothBuilds) {
  const std::string build = profile_["configurations"][0]["machine"]["build"];
  edit("build", "g++ 1.0, Debug");
  expect_warning("built by g++ 1.0, Debug (here " + build + ")");
}

TEST_F(ProfilesFromElsewhere, NameBothCommits) {
  const std::string commit = profile_["configurations"][0]["machine"]["commit"];
  edit("commit", "0123456789ab");
  if (commit.empty()) {  // the sources are no checkout, and nothing can be compared
    EXPECT_EQ(lines_with(plan().err, "measured with").size(), 0u);
    return;
  }
  expect_warning("commit 0123456789ab (here " + commit + ")");
}

TEST_F(ProfilesFromElsewhere, WarnOnceForSeveralNumbersOfDevices) {
  Json& measured = profile_["configurations"][0];
  measured["ranks"] = 2;
  measured["transfers"] = Json::parse(R"([{"from": 0, "to": 1, "points": [[1024, 0.01]]},
                                          {"from": 1, "to": 0, "points": [[1024, 0.01]]}])");
  edit("hios", "0.0.7");
  const auto done =
      hios_schedule({kMeasuredModel, "--devices", "2,3", "--extrapolate-ranks", "--algorithm",
                     "sequential", "--profile", folder_.file("p.json")});
  EXPECT_EQ(done.exit_status, 0) << done.err;
  EXPECT_EQ(lines_with(done.err, "p.json: measured with hios 0.0.7").size(), 1u) << done.err;
}

TEST_F(ProfilesFromElsewhere, WarnOfAnotherLibraryWhereItComputes) {
  Json backend = profile_["configurations"][0]["machine"]["backend"];
  if (!backend.contains("library")) return;  // plain loops use none
  const std::string library = backend["library"];
  backend["library"] = "oneDNN 0.1";
  edit("backend", backend);
  const auto warnings = lines_with(run().err, "measured with ");
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_NE(warnings.front().find("oneDNN 0.1 (here " + library + ")"), std::string::npos)
      << warnings.front();
}

/// No run is shorter than its longest path: a profile that says so has no reasons for it.
TEST_F(ProfilesFromElsewhere, WithTimesLongerThanTheRunAreNotItsReasons) {
  constexpr double kMuchLonger = 1e6;
  double longest_ms = 0;
  for (auto& [signature, measured] : profile_["configurations"][0]["operators"].items()) {
    measured["ms"] = kMuchLonger * measured["ms"].get<double>();
    longest_ms = std::max(longest_ms, measured["ms"].get<double>());
  }
  folder_.write("p.json", profile_.dump());
  const auto done = run({"--json", folder_.file("r.json")});
  ASSERT_EQ(done.exit_status, 0) << done.err;
  const Json why = read(folder_.file("r.json"))["why"];
  EXPECT_LT(why["longest_path"]["ms"], longest_ms);
  EXPECT_LT(why["gains"]["one_ms"], longest_ms);
  EXPECT_TRUE(why["gains"]["quick"]) << "the recorded times";
  EXPECT_FALSE(why.contains("more_threads"));
}

}  // namespace
}  // namespace hios::test
