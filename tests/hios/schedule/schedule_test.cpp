#include "hios/schedule/schedule.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "hios/base/error.h"
#include "hios/schedule/schedule_json.h"
#include "support/expect_error.h"
#include "support/schema.h"

namespace hios {
namespace {

using test::expect_error;

/// a → b → d, a → c → d.
Graph diamond() {
  std::vector<Operator> operators(4);
  for (std::size_t i = 0; i < operators.size(); ++i) {
    operators[i].name = std::string(1, static_cast<char>('a' + i));
  }
  const auto edge = [](std::size_t from, std::size_t to) {
    return Edge{OpId(from), OpId(to), 8, {}};
  };
  return {"diamond", std::move(operators), {edge(0, 1), edge(0, 2), edge(1, 3), edge(2, 3)}};
}

ScheduleFile sample_schedule(const Graph& graph) {
  ScheduleFile file;
  file.graph_name = graph.name();
  file.graph_digest = graph.digest();
  file.batch = 1;
  file.height = 299;
  file.width = 200;
  file.algorithm = "hios-lp";
  file.options = Json{{"window", 8}};
  file.outcome = Outcome::kTimeLimit;
  file.seconds = 0.25;
  Device cpu;
  cpu.name = "cpu0";
  cpu.kind = "cpu";
  cpu.threads = 2;
  cpu.streams = 2;
  cpu.memory_bytes = 1000;
  cpu.host = "n1";
  Device idle;
  idle.name = "gpu0";
  idle.kind = "gpu";
  idle.threads = 0;
  idle.precision = Precision::kTf32;
  file.devices = {cpu, idle};
  file.schedule.devices = {{Stage{{{OpId(0)}}}, Stage{{{OpId(1)}, {OpId(2)}}}, Stage{{{OpId(3)}}}},
                           {}};
  file.predicted.latency_ms = 12;
  file.predicted.estimated_stages = 1;
  file.predicted.lower_bound_ms = 10;
  file.predicted.bound = "critical_path";
  file.extra = Json{{"seed", 3}, {"note", {"an author's"}}};
  return file;
}

class ScheduleJson : public testing::Test {
 protected:
  ScheduleFile read(const Json& json) const {
    return schedule_from_json(JsonView(json, "s.json"), graph_);
  }
  Json json() const { return to_json(sample_schedule(graph_), graph_); }

  const Graph graph_ = diamond();
};

TEST_F(ScheduleJson, ReadsBackTheSame) {
  const Json written = json();
  test::expect_meets_schema(written);
  EXPECT_EQ(written["devices"][0]["stages"].dump(), R"([[["a"]],[["b"],["c"]],[["d"]]])");
  const ScheduleFile again = read(parse_json(to_text(written), "s.json"));
  EXPECT_EQ(to_json(again, graph_), written);
  EXPECT_EQ(again.schedule, sample_schedule(graph_).schedule);
  EXPECT_EQ(again.outcome, Outcome::kTimeLimit);
  EXPECT_EQ(again.devices[0].memory_bytes, 1000U);
  EXPECT_EQ(again.devices[0].host, "n1");
  EXPECT_EQ(again.devices[1].threads, 0);
  EXPECT_DOUBLE_EQ(again.predicted.gap(), 0.2);
  EXPECT_TRUE(again.has_prediction);
  EXPECT_EQ(again.extra, sample_schedule(graph_).extra);
}

TEST_F(ScheduleJson, WritesEveryOutcome) {
  for (const Outcome outcome :
       {Outcome::kOptimal, Outcome::kFeasible, Outcome::kInfeasible, Outcome::kTimeLimit}) {
    ScheduleFile file = sample_schedule(graph_);
    file.outcome = outcome;
    EXPECT_EQ(read(to_json(file, graph_)).outcome, outcome);
  }
  EXPECT_EQ(to_string(Outcome::kTimeLimit), "time_limit");
}

TEST_F(ScheduleJson, RecordsExtrapolatedCosts) {
  EXPECT_FALSE(json()["predicted"].contains("measured_ranks"));
  ScheduleFile file = sample_schedule(graph_);
  file.predicted.measured_ranks = 4;
  const Json written = to_json(file, graph_);
  test::expect_meets_schema(written);
  EXPECT_EQ(read(written).predicted.measured_ranks, 4U);
  EXPECT_FALSE(read(json()).predicted.measured_ranks);
}

TEST_F(ScheduleJson, RecordsThePeriodWhereManyAreInFlight) {
  ScheduleFile file = sample_schedule(graph_);
  file.objective = Objective::kThroughput;
  file.predicted.lower_bound_ms = 2;
  file.predicted.throughput = {2.5, 400, "gpu0", 3};
  EXPECT_DOUBLE_EQ(file.predicted.gap(), 0.25) << "of the period";
  const Json written = to_json(file, graph_);
  test::expect_meets_schema(written);
  EXPECT_EQ(written["version"], 1);
  EXPECT_EQ(to_json(read(written), graph_), written);
  EXPECT_EQ(read(written).objective, Objective::kThroughput);
  Json wrong = written;
  wrong["objective"] = "latency";
  expect_error([&] { read(wrong); }, {"$.predicted: has a period_ms, and the objective is not"});
}

TEST_F(ScheduleJson, TakesTheLeastThatAnAuthorMayWrite) {
  Json least = {{"format", "hios-schedule"}, {"version", 1}};
  least["graph"] = {{"name", "diamond"}, {"digest", graph_.digest()}};
  least["devices"] = json()["devices"];
  test::expect_meets_schema(least);
  const ScheduleFile file = read(least);
  EXPECT_FALSE(file.has_prediction);
  EXPECT_EQ(file.outcome, Outcome::kFeasible);
  EXPECT_EQ(file.batch, 0);
  EXPECT_FALSE(to_json(file, graph_).contains("predicted"));
  test::expect_meets_schema(to_json(file, graph_));
}

TEST_F(ScheduleJson, RefusesAnotherGraph) {
  Json other = json();
  other["graph"]["digest"] = std::string(32, '0');
  expect_error([&] { read(other); },
               {"s.json: $.graph.digest: the schedule is for graph \"diamond\" (batch 1, 299x200)",
                std::string(32, '0'), graph_.digest(), "that it was made for"});
}

TEST_F(ScheduleJson, RefusesImpossibleValues) {
  const auto refused = [&](const char* pointer, const Json& value,
                           std::initializer_list<std::string_view> parts) {
    SCOPED_TRACE(pointer);
    Json wrong = json();
    wrong[Json::json_pointer(pointer)] = value;
    expect_error([&] { read(wrong); }, parts);
  };
  refused("/format", "hios-graph", {"s.json: $.format"});
  refused("/graph/batch", -1, {"$.graph.batch: must be a whole number"});
  refused("/graph/height", 3.9, {"$.graph.height: must be a whole number", "3.9"});
  refused("/graph/colour", 1, {"$.graph: unknown key \"colour\""});
  refused("/outcome", "good",
          {"$.outcome: must be one of optimal, feasible, infeasible, time_limit, not \"good\""});
  refused("/objective", "period",
          {"$.objective: must be \"latency\", \"throughput\" or \"cold-start\""});
  refused("/predicted/period_ms", 1, {"$.predicted: the key \"per_second\" is missing"});
  refused("/options", 4, {"$.options: must be an object"});
  refused("/seconds", "1", {"$.seconds: must be a number"});
  refused("/devices", Json::array(), {"$.devices: one device at least"});
  refused("/devices/1/name", "cpu0", {"$.devices[1]: device \"cpu0\" is there twice"});
  refused("/devices/1/name", "", {"$.devices[1].name: must not be empty"});
  refused("/devices/0/threads", 4294967297, {"$.devices[0].threads: must be a whole number"});
  refused("/devices/0/streams", 0, {"$.devices[0].streams: must be a whole number from 1"});
  refused("/devices/0/stages/0", "a", {"$.devices[0].stages[0]: must be an array"});
  refused("/devices/0/stages/0/0", "a", {"$.devices[0].stages[0][0]: must be an array"});
  refused("/devices/0/stages/1/0/0", 7, {"$.devices[0].stages[1][0][0]: must be a string"});
  refused("/devices/0/stages/1/0/0", "z",
          {"$.devices[0].stages[1][0][0]: the graph \"diamond\" has no operator \"z\""});
  refused("/predicted/latency_ms", -1, {"$.predicted.latency_ms"});
  refused("/predicted/gap", "x", {"$.predicted.gap"});
  refused("/remark", "x", {"$: unknown key \"remark\""});
}

TEST_F(ScheduleJson, KeepsAnOrderOfTransfers) {
  EXPECT_FALSE(json().contains("transfers"));
  ScheduleFile file = sample_schedule(graph_);
  file.schedule.transfers = {{OpId(1), DeviceId(1)}, {OpId(0), DeviceId(1)}};
  const Json written = to_json(file, graph_);
  test::expect_meets_schema(written);
  EXPECT_EQ(written["transfers"][0]["operator"], "b");
  EXPECT_EQ(written["transfers"][0]["to"], file.devices[1].name);
  EXPECT_EQ(read(written).schedule, file.schedule);
  EXPECT_EQ(schedule_head(JsonView(written, "s.json")).devices.size(), 2U);
  const auto refused = [&](const char* pointer, const Json& value, std::string_view message) {
    Json wrong = written;
    wrong[Json::json_pointer(pointer)] = value;
    expect_error([&] { read(wrong); }, {message});
  };
  refused("/version", 2, "s.json: $.version: version 2 is unknown; this program reads version 1");
  refused("/version", 3, "s.json: $.version: version 3 is unknown");
  refused("/transfers", "b", "$.transfers: must be an array");
  refused("/transfers/0/operator", "z", "$.transfers[0].operator: the graph \"diamond\" has no");
  refused("/transfers/1/to", "tpu", "$.transfers[1].to: no device is named \"tpu\"");
  refused("/transfers/1/at", 4, "$.transfers[1]: unknown key \"at\"");
}

TEST_F(ScheduleJson, RecordsMergedSiblings) {
  EXPECT_FALSE(json()["graph"].contains("merge"));
  ScheduleFile file = sample_schedule(graph_);
  file.merge = Merge::kSiblings;
  Json written = to_json(file, graph_);
  test::expect_meets_schema(written);
  EXPECT_EQ(written["graph"]["merge"], "siblings");
  EXPECT_EQ(read(written).merge, Merge::kSiblings);

  const auto check = [&](const Merge& merge) {
    check_merge(JsonView(written, "s.json"), graph_, merge);
  };
  EXPECT_NO_THROW(check(Merge::kNone)) << "it is this very graph";
  written["graph"]["digest"] = "of another graph";
  EXPECT_NO_THROW(check(Merge::kSiblings));
  try {
    check(Merge::kNone);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_EQ(error.need(), Need(need::SameMerge{"siblings"}));
  }
  expect_error([&] { check(Merge::kNone); },
               {"s.json: $.graph: the schedule was made with sibling convolutions merged, and this "
                "model's are not"});
  const Merge sets{.sets = {{"a", "b"}}};
  expect_error([&] { check(sets); }, {"made with sibling convolutions merged, and this model's are "
                                      "merged by other sets"});
  written["graph"].erase("merge");
  expect_error([&] { check(Merge::kSiblings); },
               {"with sibling convolutions apart, and this model's are merged"});
  written["graph"]["merge"] = "all";
  expect_error([&] { read(written); },
               {"$.graph.merge: must be \"none\" or \"siblings\", not \"all\""});
}

TEST_F(ScheduleJson, RecordsSetsOfMergedSiblings) {
  ScheduleFile file = sample_schedule(graph_);
  file.merge = {.sets = {{"a", "b"}, {"c", "d", "e"}}};
  Json written = to_json(file, graph_);
  test::expect_meets_schema(written);
  EXPECT_EQ(written["graph"]["merge"], Json::parse(R"([["a", "b"], ["c", "d", "e"]])"));
  EXPECT_EQ(read(written).merge, file.merge);

  written["graph"]["digest"] = "of another graph";
  try {
    check_merge(JsonView(written, "s.json"), graph_, Merge::kSiblings);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_EQ(error.need(), Need(need::SameMerge{"s.json"}));
    EXPECT_STREQ(error.what(),
                 "s.json: $.graph: the schedule was made with sibling convolutions merged in 2 "
                 "sets, and this model's are all merged");
  }
  const auto refused = [&](const char* sets, const std::string& message) {
    written["graph"]["merge"] = Json::parse(sets);
    expect_error([&] { read(written); }, {message});
  };
  refused(R"([["a"]])", "$.graph.merge[0]: merges nothing: a set has two convolutions or more");
  refused(R"([["a", "b"], ["c", "b"]])", "$.graph.merge[1][1]: \"b\" is there twice");
  refused("[[\"a\", 1]]", "$.graph.merge[0][1]: must be a string");
}

TEST_F(ScheduleJson, LeavesTheRulesToValidate) {
  Json twice = json();
  twice["devices"][1]["stages"] = {{{"a"}}, Json::array(), {Json::array()}};
  EXPECT_EQ(read(twice).schedule.devices[1].size(), 3U);
}

TEST_F(ScheduleJson, HeadNeedsNoGraph) {
  Json other = json();
  other["graph"]["digest"] = "of another graph";
  other["devices"][0]["stages"][0][0][0] = "unknown operator";
  const ScheduleHead head = schedule_head(JsonView(other, "s.json"));
  EXPECT_EQ(head.graph_name, "diamond");
  EXPECT_EQ(head.width, 200);
  ASSERT_EQ(head.devices.size(), 2U);
  EXPECT_EQ(head.devices[1].kind, "gpu");
  other["devices"][0].erase("stages");
  expect_error([&] { schedule_head(JsonView(other, "s.json")); }, {"\"stages\" is missing"});
}

TEST(Schedule, OneOperatorStages) {
  const std::vector<Stage> stages = one_operator_stages({OpId(2), OpId(0)});
  ASSERT_EQ(stages.size(), 2U);
  EXPECT_EQ(stages[0], (Stage{{{OpId(2)}}}));
}

TEST(Prediction, HasNoGapWithoutABound) { EXPECT_EQ(Prediction{}.gap(), 0); }

}  // namespace
}  // namespace hios
