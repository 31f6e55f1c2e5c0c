// Operators that are cut, from profile to run: by a file, by the search, and that a schedule's cuts
// are those of its runs.

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "support/programs/programs.h"

namespace hios::test {
namespace {

const Words kCutModel{"--model", "squeezenet", "--height", "64"};
const Words kFewCutRuns{"--warmup", "1", "--iterations", "2"};

class CutOperators : public testing::Test {
 protected:
  std::string file(const std::string& name) const { return folder_.file(name); }

  void profile(std::size_t ranks, const std::string& cut) {
    const auto done = hios_profile(
        ranks, kCutModel + kFewCutRuns + Words{"--cut", cut, "--output", file("p.json")});
    EXPECT_EQ(done.exit_status, 0) << done.err;
  }
  ProcessResult schedule(const Words& flags, std::size_t devices) {
    return hios_schedule(kCutModel + flags +
                         Words{"--profile", file("p.json"), "--devices", std::to_string(devices)});
  }
  void plan(std::size_t devices, const std::string& cut) {
    const auto done = schedule({"--cut", cut, "--algorithm", "hios-lp", "--output", file("s.json"),
                                "--json", file("rows.json")},
                               devices);
    EXPECT_EQ(done.exit_status, 0) << done.err;
  }
  std::string half_of_the_stem() {
    folder_.write("cuts.json", R"({"format": "hios-cuts", "version": 1, "cuts": [
        {"operator": "conv_1", "axis": "height", "at": [16], "overlap": 1},
        {"operator": "pool_2", "axis": "height", "at": [8]}]})");
    return file("cuts.json");
  }

  TestFolder folder_;
};

void expect_one_line(const ProcessResult& done, const std::string& text) {
  EXPECT_EQ(done.exit_status, 2) << done.out << done.err;
  EXPECT_EQ(std::count(done.err.begin(), done.err.end(), '\n'), 1) << done.err;
  EXPECT_NE(done.err.find(text), std::string::npos) << done.err;
}

TEST_F(CutOperators, AScheduleHasTheCutsOfItsRuns) {
  const std::string cuts = half_of_the_stem();
  profile(1, cuts);
  plan(1, cuts);
  const Json graph = read(file("s.json"))["graph"];
  ASSERT_EQ(graph["cuts"].size(), 2u);
  EXPECT_EQ(graph["cuts"][0]["at"], Json({16}));
  const Words run = kCutModel + kFewCutRuns + Words{"--schedule", file("s.json")};
  const auto done = hios_run(1, run + Words{"--verify"});
  EXPECT_EQ(done.exit_status, 0) << done.err;
  EXPECT_EQ(hios_run(1, run + Words{"--cut", file("s.json"), "--dry-run"}).exit_status, 0);
  folder_.write("other.json", R"({"format": "hios-cuts", "version": 1, "cuts": [
      {"operator": "pool_2", "axis": "height", "at": [8]}]})");
  expect_one_line(hios_run(1, run + Words{"--cut", file("other.json")}),
                  "s.json: $.graph: the schedule was made for operators that are cut otherwise");
  expect_one_line(schedule({"--check", file("s.json")}, 1), "merge and cuts that it was made for");
  EXPECT_EQ(schedule({"--check", file("s.json"), "--cut", file("s.json")}, 1).exit_status, 0);
}

#ifdef HIOS_MPIEXEC
TEST_F(CutOperators, TheSearchPlansWhatRunsBitForBit) {
  profile(2, "auto");
  plan(2, "auto");
  const Json row = read(file("rows.json"))["comparison"][0];
  EXPECT_LE(row["latency_ms"], row["latency_without_cuts_ms"]);
  EXPECT_LE(row["lower_bound_without_cuts_ms"], row["latency_without_cuts_ms"]);
  const Json plan = read(file("s.json"));
  const std::size_t cut = plan["graph"].contains("cuts") ? plan["graph"]["cuts"].size() : 0;
  EXPECT_EQ(row["cut_operators"], cut);
  EXPECT_EQ(plan["extra"]["without_cuts"]["latency_ms"], row["latency_without_cuts_ms"]);
  const auto done = hios_run(2, kCutModel + kFewCutRuns +
                                    Words{"--schedule", file("s.json"), "--profile", file("p.json"),
                                          "--verify", "--json", file("r.json")});
  EXPECT_EQ(done.exit_status, 0) << done.err;
  EXPECT_TRUE(read(file("r.json"))["verified"]["bitwise"]);
}
#endif

}  // namespace
}  // namespace hios::test
