// --compare and --list-algorithms: one table for people, CSV and JSON, whose columns agree with the
// schedules that they describe.

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/flags/flags.h"
#include "hios/base/json/json_io.h"
#include "hios/evaluate/simulate.h"
#include "hios/graph/graph_json.h"
#include "hios/schedule/schedule.h"
#include "scheduler/registry.h"
#include "support/programs/programs.h"
#include "support/programs/temporary_folder.h"
#include "support/schema.h"

namespace hios::test {
namespace {

// No device may run both v1 and v2.
constexpr const char* kPinned = R"({"format": "hios-graph", "version": 1, "name": "pinned",
 "operators": [{"name": "v0", "time_ms": 1}, {"name": "v1", "time_ms": 2, "allowed": ["gpu1"]},
               {"name": "v2", "time_ms": 3, "allowed": ["gpu0"]}],
 "edges": [{"from": "v0", "to": "v1", "bytes": 1000, "transfer_ms": 0.5},
           {"from": "v0", "to": "v2", "bytes": 1000, "transfer_ms": 0.5}]})";

std::vector<std::string> csv_names(const std::string& text) {
  std::vector<std::string> names;
  std::istringstream lines(text);
  std::string line;
  std::getline(lines, line);  // the head
  while (std::getline(lines, line)) names.push_back(line.substr(0, line.find(',')));
  return names;
}

std::vector<std::string> all_names() {
  std::vector<std::string> names;
  for (const scheduler::Algorithm& algorithm : scheduler::built_in().all())
    names.emplace_back(algorithm.name);
  return names;
}

std::vector<std::string> names_for_latency() {
  std::vector<std::string> names;
  for (const scheduler::Algorithm& algorithm : scheduler::built_in().all()) {
    if (algorithm.objective == Objective::kLatency) names.emplace_back(algorithm.name);
  }
  return names;
}

class Compare : public testing::Test {
 protected:
  /// Compares on a random network of 40 operators and returns the rows by algorithm.
  std::map<std::string, Json> compare(const Words& more) {
    const auto done = hios_schedule(Words{"--random", "n=40,edges=80,layers=6,seed=5", "--devices",
                                          "3", "--streams", "4", "--json", file("c.json"), "--csv",
                                          file("c.csv"), "--force", "--time-limit", "1"} +
                                    more);
    EXPECT_EQ(done.exit_status, 0) << done.err;
    out_ = done.out;
    results_ = read(file("c.json"));
    std::map<std::string, Json> rows;
    for (const Json& row : results_["comparison"]) rows[row["algorithm"]] = row;
    return rows;
  }
  std::string file(const std::string& name) const { return folder_.file(name); }

  TestFolder folder_;
  std::string out_;
  Json results_;
};

TEST_F(Compare, ShowsEveryAlgorithmNextToTheBaselines) {
  const auto rows = compare({"--compare"});
  EXPECT_EQ(rows.size(), names_for_latency().size());
  EXPECT_EQ(csv_names(content_of(file("c.csv"))), names_for_latency());
  const double sequential_ms = rows.at("sequential")["latency_ms"];
  const double ios_ms = rows.at("ios")["latency_ms"];
  for (const auto& [name, row] : rows) {
    SCOPED_TRACE(name);
    EXPECT_NE(out_.find(name), std::string::npos);
    if (row.contains("refused") && (name == "milp" || name == "milp-split"))
      continue;  // a build without a solver
    const double latency_ms = row["latency_ms"], bound_ms = row["lower_bound_ms"];
    EXPECT_EQ(row["speedup_over_sequential"].get<double>(), sequential_ms / latency_ms);
    EXPECT_EQ(row["speedup_over_ios"].get<double>(), ios_ms / latency_ms);
    EXPECT_EQ(row["gap"].get<double>(), (latency_ms - bound_ms) / bound_ms);
    EXPECT_LE(bound_ms, latency_ms);
    EXPECT_GE(row["seconds"].get<double>(), 0);
  }
  // One device never waits for another and sends nothing.
  for (const char* name : {"sequential", "ios"}) {
    EXPECT_EQ(rows.at(name)["devices_used"], 1);
    EXPECT_EQ(rows.at(name)["sent_bytes"], 0);
    EXPECT_NEAR(rows.at(name)["waiting_share"].get<double>(), 0, 1e-12);
  }
  EXPECT_EQ(rows.at("hios-lp")["devices_used"], 3);
}

TEST_F(Compare, CountsWaitingAndBytesByTheTimeline) {
  folder_.write("g.json", R"({"format": "hios-graph", "version": 1, "name": "fork",
 "operators": [{"name": "a", "time_ms": 2}, {"name": "b", "time_ms": 6}, {"name": "c", "time_ms": 6}],
 "edges": [{"from": "a", "to": "b", "bytes": 1000, "transfer_ms": 1},
           {"from": "a", "to": "c", "bytes": 1000, "transfer_ms": 1}]})");
  const auto done = hios_schedule({"--graph", file("g.json"), "--devices", "2", "--algorithm",
                                   "inter-lp", "--json", file("r.json")});
  ASSERT_EQ(done.exit_status, 0) << done.err;
  const Json row = read(file("r.json"))["comparison"][0];
  // a and one of its consumers on one device (2 + 6), the other from 3 to 9 on the second.
  EXPECT_EQ(row["latency_ms"], 9);
  EXPECT_EQ(row["sent_bytes"], 1000);
  EXPECT_DOUBLE_EQ(row["waiting_share"].get<double>(), 1 - (8 + 6) / 18.0);
  EXPECT_FALSE(row.contains("speedup_over_sequential")) << "sequential was not asked for";
}

TEST_F(Compare, SaysWhyBelowTheTable) {
  folder_.write("g.json", R"({"format": "hios-graph", "version": 1, "name": "fork",
 "operators": [{"name": "a", "time_ms": 2}, {"name": "b", "time_ms": 6}, {"name": "c", "time_ms": 6}],
 "edges": [{"from": "a", "to": "b", "bytes": 1000, "transfer_ms": 1},
           {"from": "a", "to": "c", "bytes": 1000, "transfer_ms": 1}]})");
  const Words problem = {"--graph", file("g.json"), "--devices", "2"};
  const std::vector<std::string> expected = {
      "inter-lp takes 9.00 ms: transfers limit it, 1.00 ms on its critical path (a to",
      "  cpu1 1.00); the longest path is 8.00 ms, 57 % of the work (a, b)",
      "two devices like cpu0 gain at most 1.56x over one, four 1.56x (critical_path)",
      "cpu1 waits 3.00 ms of 9.00 for cpu0 (a)"};
  const auto done = hios_schedule(problem + Words{"--algorithm", "inter-lp", "--json",
                                                  file("r.json"), "--output", file("s.json")});
  ASSERT_EQ(done.exit_status, 0) << done.err;
  for (const std::string& line : expected) EXPECT_EQ(lines_with(done.out, line).size(), 1u) << line;
  const Json why = read(file("r.json"))["why"];
  EXPECT_EQ(why["algorithm"], "inter-lp");
  EXPECT_EQ(why["sentences"].size(), 3u);
  EXPECT_EQ(why["gains"]["bounds"].size(), 2u);
  const auto compared = hios_schedule(problem + Words{"--compare", "--algorithm", "inter-lp"});
  for (const std::string& line : expected) {
    EXPECT_EQ(lines_with(compared.out, line).size(), 1u) << line << "\n" << compared.out;
  }
  const auto checked = hios_schedule(problem + Words{"--check", file("s.json")});
  for (const std::string& line : expected) {
    EXPECT_EQ(lines_with(checked.out, line).size(), 1u) << line;
  }
  EXPECT_EQ(hios_schedule(problem + Words{"--algorithm", "inter-lp", "-q"}).out, "");
}

TEST_F(Compare, AddsTheBaselinesToTheNamedAlgorithms) {
  const auto rows = compare({"--compare", "--algorithm", "hios-mr,ios"});
  EXPECT_EQ(rows.size(), 3u);
  const std::vector<std::string> expected = {"sequential", "ios", "hios-mr"};
  EXPECT_EQ(csv_names(content_of(file("c.csv"))), expected);
  EXPECT_EQ(results_["schedules"].size(), 3u);
  for (const Json& schedule : results_["schedules"]) expect_meets_schema(schedule);
}

TEST_F(Compare, ARowMaySayWhyItsAlgorithmRefuses) {
  folder_.write("pinned.json", kPinned);
  const Words problem = {"--graph", file("pinned.json"), "--devices", "2", "--kind", "gpu"};
  const auto done = hios_schedule(problem + Words{"--compare", "--algorithm", "inter-lp", "--json",
                                                  file("r.json"), "--csv", file("r.csv")});
  ASSERT_EQ(done.exit_status, 0) << done.err;
  const Json results = read(file("r.json"));
  for (std::size_t i : {0, 1}) {  // sequential and ios need one device that runs everything
    EXPECT_TRUE(results["comparison"][i].contains("refused"));
    EXPECT_FALSE(results["comparison"][i].contains("latency_ms"));
  }
  EXPECT_TRUE(results["comparison"][2].contains("latency_ms"));
  EXPECT_EQ(results["schedules"].size(), 1u);
  EXPECT_EQ(lines_with(done.out, " refused: ").size(), 2u) << done.out;
  EXPECT_EQ(csv_names(content_of(file("r.csv"))).size(), 3u);
  const auto alone = hios_schedule(problem + Words{"--algorithm", "sequential"});
  EXPECT_EQ(alone.exit_status, 2);
  EXPECT_EQ(lines_with(alone.err, "error: ").size(), 1u);
}

TEST_F(Compare, WritesNoScheduleOfMany) {
  for (const char* flag : {"--output", "--timeline"}) {
    const auto done = hios_schedule({"--random", "n=20", "--compare", flag, file("x.json")});
    EXPECT_EQ(done.exit_status, 2);
    EXPECT_NE(done.err.find("take one algorithm"), std::string::npos) << done.err;
  }
  EXPECT_TRUE(folder_.files().empty());
}

TEST_F(Compare, AlgorithmsAreListedForPeopleAndScripts) {
  const auto done =
      hios_schedule({"--list-algorithms", "--json", file("a.json"), "--csv", file("a.csv")});
  ASSERT_EQ(done.exit_status, 0) << done.err;
  const Json list = read(file("a.json"))["algorithms"];
  ASSERT_EQ(list.size(), scheduler::built_in().all().size());
  for (std::size_t i = 0; i < list.size(); ++i) {
    const scheduler::Algorithm& algorithm = scheduler::built_in().all()[i];
    EXPECT_EQ(list[i]["name"], algorithm.name);
    EXPECT_EQ(list[i]["many_devices"], algorithm.many_devices);
    EXPECT_EQ(list[i]["options"].size(), algorithm.options.size());
    EXPECT_NE(done.out.find(std::string(algorithm.description)), std::string::npos);
  }
  EXPECT_EQ(csv_names(content_of(file("a.csv"))), all_names());
}

TEST_F(Compare, ARandomNetworkWrittenOutIsTheSameProblem) {
  const std::string keys = "n=60,edges=140,layers=9,p=1.1,seed=8,transfer=consumer";
  ASSERT_EQ(hios_schedule({"--random", keys, "--export-graph", file("g.json")}).exit_status, 0);
  expect_meets_schema(read(file("g.json")));
  const Words machine = {"--devices", "3", "--streams", "4", "--algorithm", "hios-lp"};
  const Words here = {"--output", file("here.json")}, there = {"--output", file("there.json")};
  ASSERT_EQ(hios_schedule(Words{"--random", keys} + machine + here).exit_status, 0);
  ASSERT_EQ(hios_schedule(Words{"--graph", file("g.json")} + machine + there).exit_status, 0);
  const Json a = read(file("here.json")), b = read(file("there.json"));
  EXPECT_EQ(a["graph"], b["graph"]);
  EXPECT_EQ(a["devices"], b["devices"]);
  EXPECT_EQ(a["predicted"], b["predicted"]);
}

TEST_F(Compare, UnlikeDevicesWrittenOutAreTheSameProblem) {
  const std::string keys =
      "family=forkjoin,n=40,width=5,speeds=1:1:0.25,memory=1.1,allowed=0.2,colocate=0.2,seed=6";
  const Words random = {"--random", keys}, planned = {"--algorithm", "hios-lp", "--time-limit", "100"};
  ASSERT_EQ(hios_schedule(random + Words{"--export-graph", file("g.json"), "--export-platform",
                                         file("p.json")})
                .exit_status,
            0);
  expect_meets_schema(read(file("g.json")));
  expect_meets_schema(read(file("p.json")));
  EXPECT_EQ(read(file("p.json"))["devices"].size(), 3u) << "as many as speeds";
  const Words written = {"--graph", file("g.json"), "--platform", file("p.json")};
  for (const auto& [problem, name] : {std::pair(random, "here.json"),
                                      {written, "there.json"},
                                      {random + Words{"--platform", file("p.json")}, "both.json"},
                                      {random + Words{"--devices", "3"}, "counted.json"}}) {
    const auto done = hios_schedule(problem + planned + Words{"--output", file(name)});
    ASSERT_EQ(done.exit_status, 0) << done.err;
    const Json a = read(file("here.json")), b = read(file(name));
    EXPECT_EQ(a["graph"], b["graph"]) << name;
    EXPECT_EQ(a["devices"], b["devices"]) << name;
    EXPECT_EQ(a["predicted"], b["predicted"]) << name;
  }
  EXPECT_EQ(hios_schedule(random + Words{"--check", file("there.json")}).exit_status, 0);
  EXPECT_EQ(hios_schedule(written + Words{"--check", file("here.json")}).exit_status, 0);
}

TEST_F(Compare, AThousandDevicesServeARandomNetwork) {
  const auto done =
      hios_schedule({"--random", "n=30,speeds=1x500:0.5x500,memory=1.5,allowed=0.1,colocate=0.2",
                     "--algorithm", "hios-lp,inter-mr", "--json", file("x.json")});
  ASSERT_EQ(done.exit_status, 0) << done.err;
  EXPECT_EQ(read(file("x.json"))["schedules"][0]["devices"].size(), 1000u);
}

TEST_F(Compare, MoreDevicesThanOperatorsLeaveSomeEmpty) {
  for (const char* algorithm :
       {"sequential", "ios", "inter-lp", "hios-lp", "inter-mr", "hios-mr"}) {
    SCOPED_TRACE(algorithm);
    const auto done =
        hios_schedule({"--random", "n=5,edges=6,layers=3", "--devices", "9", "--algorithm",
                       algorithm, "--output", file("s.json"), "--force"});
    ASSERT_EQ(done.exit_status, 0) << done.err;
    const Json schedule = read(file("s.json"));
    expect_meets_schema(schedule);
    EXPECT_EQ(schedule["devices"].size(), 9u) << "empty ones stay listed";
  }
}

TEST_F(Compare, TheTimelineIsATraceOfThePlan) {
  const std::vector<std::pair<std::string, Words>> plans = {
      {"n=30", {"--algorithm", "inter-lp"}},
      // Its last stage has several groups, which end later than they would alone.
      {"n=60,seed=1", {"--algorithm", "hios-lp", "--streams", "4"}}};
  for (const auto& [keys, algorithm] : plans) {
    SCOPED_TRACE(keys);
    const Words problem = {"--random", keys, "--devices", "2", "--force"};
    const auto done = hios_schedule(problem + algorithm + Words{"--timeline", file("t.json")} +
                                    Words{"--output", file("s.json")});
    ASSERT_EQ(done.exit_status, 0) << done.err;
    const double latency_ms = read(file("s.json"))["predicted"]["latency_ms"];
    std::size_t slices = 0;
    double end_ms = 0;
    const Json trace = read(file("t.json"));
    for (const Json& event : trace["traceEvents"]) {
      if (event["ph"].get<std::string>() != "X") continue;
      ++slices;
      end_ms = std::max(end_ms, (event["ts"].get<double>() + event["dur"].get<double>()) / 1000);
    }
    EXPECT_EQ(slices, keys == "n=30" ? 30u : 60u) << "a slice an operator";
    EXPECT_NEAR(end_ms, latency_ms, 1e-6 * latency_ms);
  }
}

/// Groups of 2 and 4 ms, fully used devices: w·Σt + (1−w)·Σt·u = 6 ms a stage at any w. The longer
/// group takes the whole stage, the other its half.
TEST_F(Compare, TheTimelineScalesTheGroupsOfAStageAlike) {
  folder_.write("g.json", R"({"format": "hios-graph", "version": 1, "name": "two",
 "operators": [{"name": "a", "time_ms": 2}, {"name": "b", "time_ms": 1}, {"name": "c", "time_ms": 3}],
 "edges": [{"from": "b", "to": "c", "bytes": 4}], "stage_cost": {"kind": "overlap", "weight": 0.5}})");
  const Words problem = {"--graph", file("g.json"), "--devices", "1", "--streams", "2"};
  ASSERT_EQ(hios_schedule(problem + Words{"--algorithm", "sequential", "--output", file("s.json")})
                .exit_status,
            0);
  Json schedule = read(file("s.json"));
  schedule["devices"][0]["stages"] = Json::parse(R"([[["a"], ["b", "c"]]])");
  folder_.write("s.json", schedule.dump());
  const auto done = hios_schedule(
      {"--graph", file("g.json"), "--check", file("s.json"), "--timeline", file("t.json")});
  ASSERT_EQ(done.exit_status, 0) << done.out << done.err;
  std::map<std::string, std::pair<double, double>> drawn;  // start and end, ms
  const Json trace = read(file("t.json"));
  for (const Json& event : trace["traceEvents"]) {
    if (event["ph"].get<std::string>() != "X") continue;
    const double start_ms = event["ts"].get<double>() / 1000;
    drawn[event["name"]] = {start_ms, start_ms + event["dur"].get<double>() / 1000};
  }
  const std::map<std::string, std::pair<double, double>> expected = {
      {"a", {0, 3}}, {"b", {0, 1.5}}, {"c", {1.5, 6}}};
  EXPECT_EQ(drawn, expected);
}

/// A random network says how long a message takes, not how large it is.
TEST_F(Compare, BytesThatTheGraphLacksAreUnknown) {
  const auto rows = compare({"--algorithm", "sequential,inter-lp"});
  EXPECT_EQ(rows.at("sequential")["sent_bytes"], 0) << "it sends nothing";
  ASSERT_TRUE(rows.at("inter-lp").contains("sent_bytes"));
  EXPECT_TRUE(rows.at("inter-lp")["sent_bytes"].is_null());
  EXPECT_NE(lines_with(out_, "inter-lp").at(0).find("  -  "), std::string::npos) << out_;
  EXPECT_NE(lines_with(content_of(file("c.csv")), "inter-lp").at(0).find(",3,,"), std::string::npos)
      << "three devices, no bytes";
}

TEST_F(Compare, TheBaselinesNameTheirDevice) {
  const std::string graph = file("unlike.json");
  std::ofstream(graph) << R"({"format": "hios-graph", "version": 1, "name": "unlike",
   "operators": [{"name": "v0", "time_ms": {"gpu0": 4, "gpu1": 3}}, {"name": "v1", "time_ms": 2}],
   "edges": [{"from": "v0", "to": "v1", "bytes": 1000, "transfer_ms": 0.5}]})";
  const Words problem = {"--graph", graph, "--devices", "2", "--kind", "gpu"};
  const auto done = hios_schedule(problem + Words{"--algorithm", "sequential,ios,heft"});
  ASSERT_EQ(done.exit_status, 0) << done.err;
  EXPECT_EQ(
      lines_with(
          done.out,
          "sequential and ios: on gpu1, the fastest device that can run and hold all operators")
          .size(),
      1u)
      << done.out;
  const auto alike = hios_schedule({"--random", "n=9", "--algorithm", "sequential"});
  EXPECT_TRUE(lines_with(alike.out, "the fastest device").empty()) << alike.out;
}

TEST_F(Compare, AScheduleRecordsItsSeedAndTimeLimit) {
  const Words problem = {"--random", "n=30", "--time-limit", "0.5", "--seed", "7"};
  const auto done =
      hios_schedule(problem + Words{"--algorithm", "best", "--output", file("s.json")});
  ASSERT_EQ(done.exit_status, 0) << done.err;
  const Json schedule = read(file("s.json"));
  expect_meets_schema(schedule);
  EXPECT_EQ(schedule["extra"]["seed"], 7);
  EXPECT_EQ(schedule["extra"]["time_limit_s"], 0.5);
}

}  // namespace
}  // namespace hios::test
