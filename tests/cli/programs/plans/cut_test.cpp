// Operators that are cut, from profile to run: by a file, by the search, and that a schedule's cuts
// are those of its runs.

#include <algorithm>

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

// Two streams share the one core; their groups read rows that both produce.
TEST_F(CutOperators, StagesOfTwoStreamsAreMeasuredAndRunBitForBit) {
  const std::string cuts = half_of_the_stem();
  const auto measured = hios_profile(1, kCutModel + kFewCutRuns +
                                            Words{"--cut", cuts, "--streams", "2", "--stages",
                                                  "hios-lp,hios-mr", "--output", file("p.json")});
  ASSERT_EQ(measured.exit_status, 0) << measured.err;
  const Json configuration = read(file("p.json"))["configurations"][0];
  EXPECT_NE(configuration["stages"].dump().find(" of "), std::string::npos) << "stages of shards";
  EXPECT_EQ(configuration["machine"]["certified_cores"]["squeezenet"], Json({1}));
  const auto planned = schedule(
      {"--cut", cuts, "--streams", "2", "--algorithm", "hios-mr", "--output", file("s.json")}, 1);
  ASSERT_EQ(planned.exit_status, 0) << planned.err;
  const auto done = hios_run(1, kCutModel + kFewCutRuns +
                                    Words{"--schedule", file("s.json"), "--profile", file("p.json"),
                                          "--verify", "--json", file("r.json")});
  EXPECT_EQ(done.exit_status, 0) << done.err;
  EXPECT_TRUE(read(file("r.json"))["verified"]["bitwise"]);
  // The stages of a schedule that has the cuts are measured with its cuts.
  const auto again =
      hios_profile(1, kCutModel + kFewCutRuns +
                          Words{"--cut", file("s.json"), "--streams", "2", "--stages",
                                file("s.json"), "--output", file("again.json")});
  EXPECT_EQ(again.exit_status, 0) << again.err;
}

TEST_F(CutOperators, ThoseThatAnotherLibraryComparedAreRefused) {
  profile(1, half_of_the_stem());
  plan(1, file("cuts.json"));
  Json edited = read(file("p.json"));
  Json& library = edited["configurations"][0]["machine"]["backend"]["library"];
  if (!library.is_string()) return;  // plain loops use none
  library = "oneDNN 0.1";
  folder_.write("p.json", edited.dump());
  expect_one_line(hios_run(1, kCutModel + kFewCutRuns +
                                  Words{"--schedule", file("s.json"), "--profile", file("p.json")}),
                  "p.json: shards were compared with their whole operators by oneDNN 0.1, and here "
                  "is ");
}

TEST_F(CutOperators, AScheduleWhoseCutsDoNotFitTheModelIsRefused) {
  profile(1, half_of_the_stem());
  plan(1, file("cuts.json"));
  const Json planned = read(file("s.json"));
  const auto refused = [&](const std::string& key, const Json& value, const std::string& text) {
    Json edited = planned;
    edited["graph"]["cuts"][0][key] = value;
    folder_.write("s.json", edited.dump());
    expect_one_line(hios_run(1, kCutModel + Words{"--schedule", file("s.json")}), text);
  };
  refused("operator", "conv_100", "s.json: $.graph.cuts[0]: no operator is named \"conv_100\"");
  refused("at", {100}, "s.json: $.graph.cuts[0]: operator \"conv_1\" has ");
  refused("at", {16, 15}, "s.json: $.graph.cuts[0].at[1]: rows must ascend");
  refused("at", {15}, "s.json: $.graph");
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
  // Operators whose shards were not measured stay whole, and a warning says so.
  Json lacking = read(file("p.json"));
  for (Json& configuration : lacking["configurations"]) {
    const Json uncertified = configuration["machine"].value("uncertified", Json::array());
    Json& operators = configuration["operators"];
    for (auto it = operators.begin(); it != operators.end(); ++it) {
      if (it.key().find(" of ") == std::string::npos) continue;
      if (std::ranges::count(uncertified, Json(it.key())) > 0) continue;
      operators.erase(it);
      break;
    }
  }
  folder_.write("p.json", lacking.dump());
  const auto warned = schedule({"--cut", "auto", "--algorithm", "heft"}, 2);
  EXPECT_EQ(warned.exit_status, 0) << warned.err;
  EXPECT_NE(warned.err.find(" operators were not measured in 2 shards, and stay whole; measure "),
            std::string::npos)
      << warned.err;
}
#endif

}  // namespace
}  // namespace hios::test
