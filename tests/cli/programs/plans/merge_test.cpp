// Sibling convolutions as one, from profile to run; and that plans with and without them are not
// taken for each other.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "hios/base/files/npy.h"
#include "support/programs/programs.h"

namespace hios::test {
namespace {

class Merge : public testing::Test {
 protected:
  std::string file(const std::string& name) const { return folder_.file(name); }
  Words model(const Words& merge) const {
    return Words{"--model", "squeezenet", "--height", "48"} + merge;
  }
  Words siblings() const { return model({"--merge", "siblings"}); }
  Words apart() const { return model({}); }

  void profile(const Words& flags, std::size_t ranks, const std::string& to = "p.json") {
    const auto done = hios_profile(ranks, flags + Words{"--output", file(to), "--force", "--warmup",
                                                        "1", "--iterations", "2"});
    EXPECT_EQ(done.exit_status, 0) << done.err;
  }
  ProcessResult schedule(const Words& flags, std::size_t ranks, const std::string& to = "s.json",
                         const std::string& profile = "p.json") {
    return hios_schedule(flags + Words{"--profile", file(profile), "--devices",
                                       std::to_string(ranks), "--algorithm", "inter-mr", "--output",
                                       file(to), "--force"});
  }

  /// Profiled, planned and run; returns the report.
  Json run(const Words& flags, std::size_t ranks, const std::string& outputs) {
    profile(flags, ranks);
    EXPECT_EQ(schedule(flags, ranks).exit_status, 0);
    const auto done = hios_run(
        ranks, flags + Words{"--schedule", file("s.json"), "--profile", file("p.json"),
                             "--verify=operators", "--warmup", "1", "--iterations", "2",
                             "--outputs", file(outputs), "--json", file("r.json"), "--force"});
    EXPECT_EQ(done.exit_status, 0) << done.out << done.err;
    return read(file("r.json"));
  }

  TestFolder folder_;
};

void expect_refused_with(const ProcessResult& done, const Words& words) {
  EXPECT_EQ(done.exit_status, 2) << done.out << done.err;
  EXPECT_EQ(std::count(done.err.begin(), done.err.end(), '\n'), 1) << done.err;
  for (const std::string& word : words) {
    EXPECT_NE(done.err.find(word), std::string::npos) << done.err;
  }
}

#ifdef HIOS_MPIEXEC
TEST_F(Merge, TwoRanksGiveOneRanksBitsAndTheNumbersOfTheModelAsItIs) {
  const Json merged = run(siblings(), 2, "merged");
  EXPECT_TRUE(merged["verified"]["passed"]);
  EXPECT_TRUE(merged["verified"]["bitwise"]);
  run(apart(), 2, "apart");
  const auto mine = read_npy(file("merged/0.npy"), {}).values;
  const auto theirs = read_npy(file("apart/0.npy"), {}).values;
  ASSERT_EQ(mine.size(), theirs.size());
  for (std::size_t i = 0; i < mine.size(); ++i) {
    EXPECT_NEAR(mine[i], theirs[i], 1e-3 + 1e-3 * std::abs(theirs[i]));
  }
}
#endif

TEST_F(Merge, ASchedulesChoiceIsItsRuns) {
  run(siblings(), 1, "o");
  EXPECT_EQ(read(file("s.json"))["graph"]["merge"], "siblings");
  const Words merged{"s.json: $.graph", "made with sibling convolutions merged", "model's are not",
                     "give --merge siblings"};
  expect_refused_with(hios_run(1, apart() + Words{"--schedule", file("s.json")}), merged);
  expect_refused_with(
      hios_profile(1, apart() + Words{"--stages", file("s.json"), "--output", file("q.json")}),
      merged);
  const Words checked{"--profile", file("p.json"), "--check", file("s.json")};
  expect_refused_with(hios_schedule(apart() + checked), merged);
  EXPECT_EQ(hios_schedule(siblings() + checked).exit_status, 0);

  run(apart(), 1, "o");
  EXPECT_FALSE(read(file("s.json"))["graph"].contains("merge"));
  const Words without{"made with sibling convolutions apart", "leave --merge out"};
  expect_refused_with(hios_run(1, siblings() + Words{"--schedule", file("s.json")}), without);
  expect_refused_with(hios_schedule(siblings() + checked), without);
}

TEST_F(Merge, AScheduleNamesTheSetsThatAreMerged) {
  const std::string sets = R"([["fire2/squeeze1x1/conv", "fire2/bypass/conv"]])";
  folder_.write("sets.json",
                R"({"format": "hios-schedule", "version": 1, "graph": {"merge": )" + sets + "}}");
  const Words some = model({"--merge", file("sets.json")});
  const Json report = run(some, 1, "o");
  EXPECT_TRUE(report["verified"]["passed"]);
  EXPECT_EQ(read(file("s.json"))["graph"]["merge"], Json::parse(sets));
  // The schedule itself names them, too.
  const Words scheduled{"--schedule", file("s.json"), "--profile", file("p.json"), "--dry-run"};
  EXPECT_EQ(hios_run(1, model({"--merge", file("s.json")}) + scheduled).exit_status, 0);
  expect_refused_with(
      hios_run(1, apart() + scheduled),
      {"merged in 1 set, and this model's are not", "give --merge " + file("s.json")});
  expect_refused_with(hios_run(1, siblings() + scheduled), {"this model's are all merged"});
  expect_refused_with(
      hios_schedule({"--model", "nasnet_large", "--merge", file("sets.json"), "--list-operators"}),
      {"model nasnet_large: \"fire2/squeeze1x1/conv\" is no sibling of"});
}

TEST_F(Merge, AProfileLacksWhatWasNotMergedAndMayHoldBoth) {
  profile(siblings(), 1);
  const auto missing = schedule(apart(), 1);
  expect_refused_with(missing, {"hios-profile --model squeezenet"});
  EXPECT_EQ(missing.err.find("--merge"), std::string::npos) << missing.err;
  profile(apart(), 1, "apart.json");
  expect_refused_with(schedule(siblings(), 1, "s.json", "apart.json"), {"--merge siblings"});

  profile(apart() + Words{"--update"}, 1);
  EXPECT_EQ(schedule(apart(), 1).exit_status, 0);
  EXPECT_EQ(schedule(siblings(), 1).exit_status, 0);
}

TEST_F(Merge, ModelsWithoutSiblingsAreWhatTheyWere) {
  const Words model{"--model", "randwire_large", "--height", "32"};
  const Words listed{"--list-operators", "--json", file("l.json"), "--force"};
  EXPECT_EQ(hios_schedule(model + listed).exit_status, 0);
  const Json before = read(file("l.json"));
  EXPECT_EQ(hios_schedule(model + Words{"--merge", "siblings"} + listed).exit_status, 0);
  EXPECT_EQ(read(file("l.json"))["operators"], before["operators"]);
}

}  // namespace
}  // namespace hios::test
