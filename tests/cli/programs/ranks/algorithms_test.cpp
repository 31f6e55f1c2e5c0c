// The algorithms by which hios-run computes, with a profile and without: --verify names their
// source, since other algorithms give other bits.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/programs/programs.h"
#include "support/schema.h"

namespace hios::test {
namespace {

#ifdef HIOS_HAVE_CPU

class AlgorithmsOfARun : public testing::Test {
 protected:
  void SetUp() override {
    const auto done = hios_profile(1, model_ + Words{"--warmup", "0", "--iterations", "1",
                                                     "--stages", "none", "--output", profile_});
    ASSERT_EQ(done.exit_status, 0) << done.err;
  }

  /// Writes the profile with these algorithms only: those that were measured depend on the machine.
  void keep_algorithms(const Json& algorithms) {
    Json profile = read(profile_);
    profile["configurations"][0]["machine"]["algorithms"] = algorithms;
    folder_.write("profile.json", profile.dump());
  }

  /// Runs, expects the line to end with this source, and returns the report's algorithms.
  Json run_by(const std::string& source, const Words& more = {}) {
    const std::string report = folder_.file("report.json");
    const auto done = hios_run(1, model_ +
                                      Words{"--verify", "--warmup", "0", "--iterations", "1",
                                            "--json", report, "--force"} +
                                      more);
    EXPECT_EQ(done.exit_status, 0) << done.err;
    EXPECT_NE(done.out.find("; bit for bit the result of one rank by " + source + "\n"),
              std::string::npos)
        << done.out;
    expect_meets_schema(read(report));
    return read(report)["verified"]["algorithms"];
  }

  TestFolder folder_;
  const std::string profile_ = folder_.file("profile.json");
  const Words model_ = {"--model", "squeezenet", "--height", "48", "--backend", "cpu"};
};

TEST_F(AlgorithmsOfARun, AreNamed) {
  const std::string usual = "backend cpu's default algorithms";
  const Json plain = run_by(usual);
  EXPECT_EQ(plain["source"], usual);
  EXPECT_EQ(plain["from_profile"], 0);
  EXPECT_EQ(plain["chosen"], 0);

  const Json operators = read(profile_)["configurations"][0]["operators"];
  keep_algorithms({{operators.begin().key(), "direct"}});
  const Json measured = run_by("the algorithms of " + profile_, {"--profile", profile_});
  EXPECT_EQ(measured["source"], "the algorithms of " + profile_);
  EXPECT_GE(measured["from_profile"], 1);
  EXPECT_GT(plain["by_default"], measured["by_default"]);
  EXPECT_NE(measured["digest"], plain["digest"]);

  keep_algorithms({{"an operator of another fusion", "direct"}});
  const std::string lacking = usual + ", as " + profile_ + " names none for this network";
  EXPECT_EQ(run_by(lacking, {"--profile", profile_})["digest"], plain["digest"]);
}

#endif

}  // namespace
}  // namespace hios::test
