// Schedules of cold starts, with the programs that read schedules.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/corpus.h"
#include "support/programs/programs.h"
#include "support/programs/temporary_folder.h"
#include "support/refused.h"
#include "support/schema.h"

namespace hios::test {
namespace {

const Words kFewRuns = {"--iterations", "2", "--warmup", "0"};

class ColdStart : public testing::Test {
 protected:
  /// Writes a schedule of the corpus with the weights of its first operator.
  void write_schedule(const std::string& corpus_file, const Json& weights) {
    Json json = read_json(corpus() / corpus_file);
    json["objective"] = "cold-start";
    json["stores"] = Json::parse(R"([{"name": "dram", "kind": "memory"}])");
    json["weights"] = weights;
    folder_.write("s.json", json.dump());
  }
  /// Writes a schedule of one device with a lane that loads all parameters, in the order of use.
  void write_loading_schedule() {
    write_schedule("run_one_device.json",
                   Json::parse(R"({"lanes": [[{"of": "conv_1", "from": "dram", "to": "cpu0"},
                                              {"of": "conv_2", "from": "dram", "to": "cpu0"}]]})"));
  }
  Words run_flags() const {
    return {"--model", (corpus() / "model_ok.json").string(), "--schedule", folder_.file("s.json")};
  }

  TestFolder folder_;
};

#ifdef HIOS_HAVE_CPU
TEST_F(ColdStart, RunsOnOneRankAndShowsBothWalls) {
  write_schedule("run_one_device.json",
                 Json::parse(R"({"lanes": [[{"of": "conv_1", "from": "dram", "to": "cpu0"}],
                                           [{"of": "conv_2", "from": "dram", "to": "cpu0"}]]})"));
  const auto done = hios_run(
      1, run_flags() + kFewRuns + Words{"--verify", "--json", folder_.file("report.json")});
  ASSERT_EQ(done.exit_status, 0) << done.out << done.err;
  EXPECT_NE(done.out.find("perfect overlap is the larger"), std::string::npos) << done.out;
  const Json report = read(folder_.file("report.json"));
  expect_meets_schema(report);
  EXPECT_EQ(report["cold_start"]["load_ms"]["samples"], 2);
  EXPECT_GT(report["cold_start"]["resident_ms"]["min"], 0);
  EXPECT_EQ(report["verified"]["bitwise"], true);
  ASSERT_EQ(report["loads"].size(), 2u);
  EXPECT_EQ(report["loads"][0]["of"], "conv_1");
  EXPECT_EQ(report["loads"][1]["from"], "dram");
  for (const Json& load : report["loads"]) {
    EXPECT_LT(load["measured_start_ms"], load["measured_end_ms"]) << load;
  }
}

TEST_F(ColdStart, ReadsInPlace) {
  write_schedule("run_one_device.json",
                 Json::parse(R"({"lanes": [[{"of": "conv_1", "from": "dram", "to": "cpu0"}]],
                                 "in_place": {"conv_2": "dram"}})"));
  const auto done = hios_run(
      1, run_flags() + kFewRuns + Words{"--verify", "--json", folder_.file("report.json")});
  ASSERT_EQ(done.exit_status, 0) << done.out << done.err;
  const Json report = read(folder_.file("report.json"));
  expect_meets_schema(report);
  EXPECT_EQ(report["verified"]["bitwise"], true);
  EXPECT_EQ(report["loads"].size(), 1u);
}

#ifdef HIOS_MPIEXEC
/// The first stage on one rank, the others on another.
class ColdStartOfTwoRanks : public ColdStart {
 protected:
  void write_two_ranks(const Json& weights) {
    write_schedule("run_one_device.json", weights);
    Json json = read(folder_.file("s.json"));
    Json second = json["devices"][0];
    second["name"] = "cpu1";
    second["stages"].erase(0);
    json["devices"][0]["stages"].erase(json["devices"][0]["stages"].begin() + 1,
                                       json["devices"][0]["stages"].end());
    json["devices"].push_back(second);
    folder_.write("s.json", json.dump());
  }
  Json verified_report() {
    const auto done = hios_run(
        2, run_flags() + kFewRuns + Words{"--verify", "--json", folder_.file("report.json")});
    EXPECT_EQ(done.exit_status, 0) << done.out << done.err;
    EXPECT_NE(done.out.find("bit for bit the result of one rank"), std::string::npos) << done.out;
    const Json report = read(folder_.file("report.json"));
    expect_meets_schema(report);
    return report;
  }
};

TEST_F(ColdStartOfTwoRanks, LoadTheirOwn) {
  write_two_ranks(Json::parse(R"({"lanes": [[{"of": "conv_2", "from": "dram", "to": "cpu1"}],
                                            [{"of": "conv_1", "from": "dram", "to": "cpu0"}]]})"));
  EXPECT_EQ(verified_report()["loads"].size(), 2u);
}

TEST_F(ColdStartOfTwoRanks, PassParametersOnAndEvictThem) {
  write_two_ranks(Json::parse(R"({"lanes": [[{"of": "conv_1", "from": "dram", "to": "cpu1"},
                                 {"of": "conv_1", "from": "cpu1", "to": "cpu0"},
                                 {"of": "conv_2", "from": "dram", "to": "cpu1"}]],
                      "evict": [{"of": "conv_1", "from": "cpu1", "after": "conv_2"}]})"));
  const Json loads = verified_report()["loads"];
  ASSERT_EQ(loads.size(), 3u);
  EXPECT_EQ(loads[1]["from"], 1);
  EXPECT_EQ(loads[1]["to"], 0);
  for (const Json& load : loads) {
    EXPECT_LE(load["measured_start_ms"], load["measured_end_ms"]) << load;
  }
  const auto listed = hios_run(2, run_flags() + Words{"--dry-run"});
  EXPECT_NE(listed.out.find("the parameters of conv_1 from rank 1 ("), std::string::npos)
      << listed.out;
  EXPECT_NE(listed.out.find("the parameters of conv_2 after a load of rank 0 ("), std::string::npos)
      << listed.out;
  EXPECT_NE(listed.out.find("evicting the parameters of conv_1 ("), std::string::npos)
      << listed.out;
}

TEST_F(ColdStartOfTwoRanks, LoadEverythingFirst) {
  write_two_ranks(Json::parse(R"({"load_first": true,
                                  "lanes": [[{"of": "conv_2", "from": "dram", "to": "cpu1"}],
                                            [{"of": "conv_1", "from": "dram", "to": "cpu0"}]]})"));
  const Json report = verified_report();
  for (const Json& load : report["loads"]) {
    for (const Json& stage : report["stages"]) {
      if (stage["rank"] != load["to"]) continue;  // each rank has its own clock
      EXPECT_GE(stage["measured_start_ms"], load["measured_end_ms"]) << stage;
    }
  }
}
#endif  // HIOS_MPIEXEC

/// A cold start whose parameters are in a file.
class ColdStartFromDisk : public ColdStart {
 protected:
  ColdStartFromDisk() {
    write_loading_schedule();
    Json json = read(folder_.file("s.json"));
    json["stores"] =
        Json::parse(R"([{"name": "dram", "kind": "memory"}, {"name": "ssd", "kind": "disk"}])");
    json["weights"]["lanes"][0][1]["from"] = "ssd";
    folder_.write("s.json", json.dump());
  }
  Words model() const { return {"--model", (corpus() / "model_ok.json").string()}; }
  void write_weights(const Words& flags) {
    const auto done = hios_run(
        1, model() + flags + Words{"--write-weights", folder_.file("w"), "--packed", "--force"});
    ASSERT_EQ(done.exit_status, 0) << done.err;
  }
  Words with_weights() const { return run_flags() + Words{"--weights", folder_.file("w")}; }
};

TEST_F(ColdStartFromDisk, ReadsWhatWasPacked) {
  write_weights({"--seed", "7", "--schedule", folder_.file("s.json")});
  const auto done = hios_run(
      1, with_weights() + kFewRuns + Words{"--verify", "--json", folder_.file("report.json")});
  ASSERT_EQ(done.exit_status, 0) << done.out << done.err;
  EXPECT_NE(done.out.find("loads are read from "), std::string::npos) << done.out;
  const Json report = read(folder_.file("report.json"));
  expect_meets_schema(report);
  EXPECT_EQ(report["verified"]["bitwise"], true);
  EXPECT_EQ(report["cold_start"]["disk"]["file"], folder_.file("w.packed"));
  EXPECT_EQ(report["loads"][1]["from"], "ssd");
  const auto verified = hios_run(1, with_weights() + kFewRuns + Words{"--verify=operators"});
  EXPECT_EQ(verified.exit_status, 0) << verified.out << verified.err;
}

TEST_F(ColdStartFromDisk, WhatDoesNotFitIsRefused) {
  expect_refused(hios_run(1, run_flags()),
                 "s.json: $.weights: it loads from a disk, and no file of weights was given; make "
                 "it on one rank, with the model, schedule and profile of the run, by hios-run "
                 "--write-weights FILE --packed, and give the run --weights FILE");
  write_weights({"--seed", "7"});
  const std::string packed = content_of(folder_.file("w.packed"));
  write_weights({"--seed", "8"});
  folder_.write("w.packed", packed);
  expect_refused(hios_run(1, with_weights()),
                 "w.packed: has no parameters of conv_2 as this run computes with them");
  folder_.write("w.packed", packed.substr(0, packed.size() - 4));
  expect_refused(hios_run(1, with_weights()), "w.packed: its header: ");
  expect_refused(
      hios_run(1, model() + Words{"--packed", "--write-weights", folder_.file("x"), "--verify"}),
      "leave out --verify");
}

TEST_F(ColdStart, ADryRunListsTheWaitsForLoads) {
  write_loading_schedule();
  const auto listed = hios_run(1, run_flags() + Words{"--dry-run"});
  ASSERT_EQ(listed.exit_status, 0) << listed.err;
  EXPECT_NE(listed.out.find("waiting for load 1 of lane 0, the parameters of conv_2 ("),
            std::string::npos)
      << listed.out;
}
#endif  // HIOS_HAVE_CPU

TEST_F(ColdStart, ARunMeetsEveryParameter) {
  write_schedule("run_one_device.json",
                 Json::parse(R"({"lanes": [[{"of": "conv_1", "from": "dram", "to": "cpu0"}]]})"));
  expect_refused(hios_run(1, run_flags()),
                 "conv_2 (device cpu0, stage 1, group 0) lacks the parameters conv_2");
}

TEST_F(ColdStart, ManyInferencesAreNoColdStart) {
  write_loading_schedule();
  expect_refused(hios_run(1, run_flags() + Words{"--inferences", "4"}),
                 "s.json: $.weights: a cold start is one inference, not many");
}

TEST_F(ColdStart, ABackendThatHasAllParametersIsRefused) {
  write_loading_schedule();
  expect_refused(hios_run(1, run_flags() + Words{"--backend", "reference"}),
                 "the reference backend runs no cold starts: it has all parameters before a run; "
                 "choose another with --backend");
}

TEST_F(ColdStart, NoPredictionNoJudgement) {
  write_loading_schedule();
  expect_refused(hios_run(1, run_flags() + Words{"--max-error", "5"}),
                 "--max-error judges a prediction");
}

TEST_F(ColdStart, AnEntryThatNoEngineRunsIsRefusedWithAWayOut) {
  write_schedule("run_one_device.json", Json::parse(R"({"in_place": {"conv_1": "dram"}})"));
  Json disk = read(folder_.file("s.json"));
  disk["stores"][0]["kind"] = "disk";
  folder_.write("s.json", disk.dump());
  expect_refused(hios_run(1, run_flags()),
                 "s.json: $.weights.in_place: no engine reads parameters in place from a disk yet; "
                 "hios-schedule --check simulates it, and without stores, weights and objective "
                 "its stages run with all parameters loaded");
  EXPECT_EQ(folder_.files(), Words{"s.json"});

  // The remedy: the same stages without them run.
  Json json = read(folder_.file("s.json"));
  for (const char* key : {"stores", "weights", "objective"}) json.erase(key);
  folder_.write("s.json", json.dump());
  const auto done = hios_run(1, run_flags() + kFewRuns);
  EXPECT_EQ(done.exit_status, 0) << done.out << done.err;
}

TEST_F(ColdStart, AMistakeInWeightsComesFirst) {
  write_schedule("run_one_device.json", Json::parse(R"({"in_place": {"conv_1": "disk"}})"));
  expect_refused(hios_run(1, run_flags()),
                 "$.weights.in_place.conv_1: no store is named \"disk\"; name one of $.stores");
}

TEST_F(ColdStart, ACheckNeedsThePlatformWithItsRoutes) {
  write_schedule("schedule_ok.json", Json::parse(R"({"in_place": {"a": "dram"}})"));
  const Words check{"--graph", (corpus() / "graph_ok.json").string(), "--check",
                    folder_.file("s.json")};
  expect_refused(hios_schedule(check),
                 "s.json: $.weights: a cold start takes the routes of a platform; give --platform "
                 "FILE, the one that the schedule was made for");
}

/// A random network with parameters, on a server whose GPUs share PCIe buses.
const Words kProblem = {
    "--random",
    "n=30,seed=3,parameters=1000000-40000000",
    "--platform",
    (corpus().parent_path().parent_path() / "schedules/platforms/v100-server.json").string(),
    "--objective",
    "cold-start"};

TEST_F(ColdStart, IsComparedWrittenAndChecked) {
  const auto compared =
      hios_schedule(kProblem + Words{"--compare", "--algorithm", "hios-lp,best", "--option",
                                     "iterations=300", "--json", folder_.file("c.json")});
  ASSERT_EQ(compared.exit_status, 0) << compared.err;
  const Json results = read(folder_.file("c.json"));
  std::vector<std::string> names;
  for (const Json& row : results["comparison"]) {
    names.push_back(row["algorithm"]);
    EXPECT_LE(row["lower_bound_ms"], row["latency_ms"]) << row.dump();
  }
  EXPECT_EQ(names, (Words{"load-then-run", "pipelined", "hios-lp", "best"}));
  const double first_ms = results["comparison"][0]["latency_ms"];
  EXPECT_LT(results["comparison"][1]["latency_ms"], first_ms);

  const auto planned =
      hios_schedule(kProblem + Words{"--algorithm", "pipelined", "--output", folder_.file("s.json"),
                                     "--export-graph", folder_.file("g.json"), "--export-platform",
                                     folder_.file("p.json")});
  ASSERT_EQ(planned.exit_status, 0) << planned.err;
  const Json written = read(folder_.file("s.json"));
  EXPECT_EQ(written["objective"], "cold-start");
  EXPECT_EQ(written["weights"]["lanes"].size(), 1u);
  const auto checked =
      hios_schedule({"--graph", folder_.file("g.json"), "--platform", folder_.file("p.json"),
                     "--check", folder_.file("s.json"), "--json", folder_.file("checked.json")});
  ASSERT_EQ(checked.exit_status, 0) << checked.out << checked.err;
  const Json again = read(folder_.file("checked.json"));
  EXPECT_EQ(again["latency_ms"], written["predicted"]["latency_ms"]);
  EXPECT_EQ(again["lower_bound_ms"], written["predicted"]["lower_bound_ms"]);
}

TEST_F(ColdStart, ProblemsWithoutRoutesOrParametersAreRefused) {
  expect_refused(hios_schedule({"--random", "n=5,parameters=10-20", "--objective", "cold-start",
                                "--algorithm", "pipelined"}),
                 "--objective cold-start needs the stores that keep the parameters");
  Words bare = kProblem;
  bare[1] = "n=5";
  expect_refused(hios_schedule(bare + Words{"--algorithm", "pipelined"}),
                 "no operator of the graph has parameters");
  expect_refused(hios_schedule({"--random", "n=5", "--algorithm", "pipelined"}),
                 "pipelined plans for cold-start: give --objective cold-start");
}

// The file's devices may have other memory than the platform, or say nothing of it.
TEST_F(ColdStart, ACheckTakesThePlatformsMemory) {
  folder_.write("g.json", R"({"format": "hios-graph", "version": 1, "name": "two", "operators": [
      {"name": "a", "time_ms": 1, "parameter_bytes": 8000000},
      {"name": "b", "time_ms": 1, "parameter_bytes": 8000000}], "edges": []})");
  Json platform = Json::parse(R"({"format": "hios-platform", "version": 1,
      "devices": [{"name": "gpu0", "kind": "gpu", "memory_bytes": 20000000}],
      "stores": [{"name": "dram", "kind": "memory"}],
      "routes": [{"from": "dram", "to": "gpu0", "latency_ms": 0, "gb_per_s": 1}]})");
  folder_.write("p.json", platform.dump());
  const Words problem{"--graph", folder_.file("g.json"), "--platform", folder_.file("p.json")};
  const auto made = hios_schedule(problem + Words{"--objective", "cold-start", "--algorithm",
                                                  "pipelined", "--output", folder_.file("s.json")});
  ASSERT_EQ(made.exit_status, 0) << made.out << made.err;
  const Words check = problem + Words{"--check", folder_.file("s.json")};
  EXPECT_EQ(hios_schedule(check).exit_status, 0);
  platform["devices"][0]["memory_bytes"] = 10000000;
  folder_.write("p.json", platform.dump());
  const auto refused = hios_schedule(check);
  EXPECT_EQ(refused.exit_status, 2) << refused.err;
  EXPECT_NE(refused.out.find("$.weights.lanes[0][1]: the load of b from dram to gpu0"),
            std::string::npos)
      << refused.out << refused.err;
}

}  // namespace
}  // namespace hios::test
