// Operators that are cut, from profile to run: by a file, by the search, and that a schedule's cuts
// are those of its runs.

#include <gtest/gtest.h>

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

/// Expects one line, but for warnings that a machine with other work measures unevenly.
void expect_one_line(const ProcessResult& done, const std::string& text) {
  EXPECT_EQ(done.exit_status, 2) << done.out << done.err;
  std::size_t lines = 0;
  for (std::size_t at = 0; at < done.err.size(); at = done.err.find('\n', at) + 1) {
    if (done.err.compare(at, 8, "warning:") != 0) ++lines;
    if (done.err.find('\n', at) == std::string::npos) break;
  }
  EXPECT_EQ(lines, 1u) << done.err;
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
  expect_one_line(
      hios_run(1, run + Words{"--cut", "none"}),
      "--cut none: " + file("s.json") + ": $.graph.cuts: the schedule cuts 2 operators");
}

TEST_F(CutOperators, AScheduleIsCheckedWithItsOwnCuts) {
  profile(1, half_of_the_stem());
  plan(1, file("cuts.json"));
  for (const char* cut : {"", "s.json", "cuts.json"}) {
    Words flags{"--check", file("s.json")};
    if (*cut != '\0') flags = flags + Words{"--cut", file(cut)};
    const auto done = schedule(flags, 1);
    EXPECT_EQ(done.exit_status, 0) << cut << done.err;
  }
  const auto compared =
      schedule({"--check", file("s.json"), "--compare", "--algorithm", "hios-mr"}, 1);
  EXPECT_EQ(compared.exit_status, 0) << compared.err;
  expect_one_line(
      schedule({"--check", file("s.json"), "--cut", "none"}, 1),
      "--cut none: " + file("s.json") + ": $.graph.cuts: the schedule cuts 2 operators");
  folder_.write("other.json", R"({"format": "hios-cuts", "version": 1, "cuts": [
      {"operator": "pool_2", "axis": "height", "at": [8]}]})");
  expect_one_line(schedule({"--check", file("s.json"), "--cut", file("other.json")}, 1),
                  "merge and cuts that it was made for");
}

TEST_F(CutOperators, AProfileSaysWhatWasCut) {
  profile(1, half_of_the_stem());
  const Json machine = read(file("p.json"))["configurations"][0]["machine"];
  ASSERT_EQ(machine["cuts"]["squeezenet"].size(), 2u) << machine;
  EXPECT_EQ(machine["cuts"]["squeezenet"][0]["operator"], "conv_1");
}

#ifdef HIOS_MPIEXEC
TEST_F(CutOperators, ThoseThatWereNotMeasuredAreNamedWithTheCommandThatMeasuresThem) {
  profile(2, "none");
  const auto done = schedule({"--cut", "auto", "--algorithm", "hios-lp"}, 2);
  expect_one_line(done,
                  "p.json: no operator was measured in 2 shards, or none gives the bits of "
                  "its whole then; measure them with: ");
  const std::size_t flag = done.err.find(" --cut auto ");
  EXPECT_NE(flag, std::string::npos) << done.err;
  EXPECT_EQ(done.err.find("--cut", flag + 7), std::string::npos) << "twice: " << done.err;
}
#endif

#ifdef HIOS_MPIEXEC
TEST_F(CutOperators, TheSearchPlansWhatRunsBitForBit) {
  profile(2, "auto");
  plan(2, "auto");
  const auto best = schedule({"--cut", "auto", "--algorithm", "best", "--option", "iterations=2000",
                              "--json", file("best.json")},
                             2);
  EXPECT_EQ(best.exit_status, 0) << best.err;
  const Json found = read(file("best.json"))["comparison"][0];
  EXPECT_LE(found["latency_ms"], found["latency_without_cuts_ms"]);
  EXPECT_GE(found["latency_ms"], found["lower_bound_ms"]);
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
