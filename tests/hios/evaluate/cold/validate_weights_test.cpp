#include "hios/evaluate/cold/validate_weights.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>

#include "support/graphs/dag_generator.h"
#include "support/graphs/small_graph.h"
#include "support/graphs/two_gpus.h"

namespace hios {
namespace {

using test::cold;
using test::d0;
using test::d1;
using test::kDisk;
using test::kMain;
using test::stage;
using test::two_gpus;
using test::v1;
using test::v2;
using test::v3;
using test::v4;
using test::with_parameters;

/// Returns the graph with one operator changed.
template <class Change>
Graph changed(const Graph& graph, OpId op, Change change) {
  std::vector<Operator> operators(graph.operators().begin(), graph.operators().end());
  change(operators[op.index()]);
  return Graph(graph.name(), operators, {graph.edges().begin(), graph.edges().end()});
}

/// Expects exactly one finding, of this rule, whose line begins at this path and has these parts.
void expect_only(const Graph& graph, const Platform& platform, const Schedule& schedule, Rule rule,
                 const std::string& path, std::initializer_list<std::string_view> parts) {
  const auto findings = validate(graph, platform, schedule);
  ASSERT_EQ(findings.size(), 1u) << (findings.empty() ? "nothing" : findings.back().text);
  const std::string line = finding_line("s.json", findings.front());
  EXPECT_EQ(findings.front().rule, rule) << line;
  EXPECT_TRUE(line.starts_with("s.json: " + path + ": ")) << line;
  EXPECT_EQ(line.find('\n'), std::string::npos);
  for (const std::string_view part : parts) {
    EXPECT_NE(line.find(part), std::string::npos) << "no '" << part << "' in: " << line;
  }
}

void expect_none(const Graph& graph, const Platform& platform, const Schedule& schedule) {
  const auto findings = validate(graph, platform, schedule);
  EXPECT_TRUE(findings.empty()) << finding_line("s.json", findings.front());
}

const std::vector<std::vector<Stage>> kOneEach = {{stage({{1}})}, {stage({{2}})}};
const std::vector<std::vector<Stage>> kBothOnFirst = {{stage({{1}}), stage({{2}})}, {}};

TEST(ValidateWeights, AScheduleWithoutWeightsNeedsNone) {
  expect_none(with_parameters({8, 8}), two_gpus(), {kOneEach});
  expect_none(with_parameters({8, 8}), test::devices(2, 1), {kOneEach});
}

TEST(ValidateWeights, EveryWayToParameters) {
  const Graph graph = with_parameters({8, 8, 8, 0}, {{v1, v2}, {v2, v3}});
  const Schedule schedule = cold({{stage({{1}}), stage({{3}}), stage({{4}})}, {stage({{2}})}},
                                 {.lanes = {{{v1, kDisk, d0}, {v2, kMain, d0}}, {{v2, d0, d1}}},
                                  .in_place = {{v3, kMain}},
                                  .evictions = {{v1, d0, v1}, {v2, d0, v3}, {v2, d1, v2}},
                                  .resident = {}});
  expect_none(graph, two_gpus(), schedule);
  expect_none(graph, two_gpus(),
              cold({{stage({{1}}), stage({{2}}), stage({{3}}), stage({{4}})}, {}},
                   {.lanes = {},
                    .in_place = {{v3, kDisk}},
                    .evictions = {{v1, d0, v2}},
                    .resident = {{v1, d0}, {v2, d0}}}));
}

TEST(ValidateWeights, TheyNeedATopology) {
  expect_only(with_parameters({8, 8}), test::devices(2, 1),
              cold(kOneEach, {.resident = {{v1, d0}, {v2, d1}}}), Rule::kNoRoute, "$.weights.lanes",
              {"the platform has no routes"});
}

TEST(ValidateWeights, EachOperatorHasItsParameters) {
  const Graph graph = with_parameters({8, 8});
  expect_only(
      graph, two_gpus(), cold(kOneEach, {.lanes = {{{v1, kMain, d0}, {v2, kMain, d0}}}}),
      Rule::kWeightsMissing, "$.devices[1].stages[0]",
      {"v2 (device gpu1, stage 0, group 0) lacks the parameters v2", "not resident on gpu1"});
  const Graph shared = changed(changed(graph, v1, [](Operator& op) { op.parameters = "w"; }), v2,
                               [](Operator& op) { op.parameters = "w"; });
  expect_none(shared, two_gpus(), cold(kBothOnFirst, {.lanes = {{{v2, kMain, d0}}}}));
  expect_only(shared, two_gpus(), cold(kBothOnFirst, {}), Rule::kWeightsMissing,
              "$.devices[0].stages[0]", {"v1", "and others there lack the parameters w"});
}

TEST(ValidateWeights, NoneAreLoadedTwice) {
  const Graph graph = with_parameters({8, 8});
  expect_only(graph, two_gpus(),
              cold(kOneEach, {.lanes = {{{v1, kMain, d0}, {v2, kMain, d1}}, {{v1, kDisk, d0}}}}),
              Rule::kWeightsTwice, "$.weights.lanes[1][0]",
              {"the load of v1 from disk to gpu0 (lane 1, index 0) is one too many",
               "the load of v1 from main to gpu0 (lane 0, index 0)"});
  expect_only(
      graph, two_gpus(),
      cold(kOneEach, {.lanes = {{{v2, kMain, d1}, {v1, kMain, d0}}}, .resident = {{v1, d0}}}),
      Rule::kWeightsTwice, "$.weights.lanes[0][1]", {"resident there from the beginning"});
}

TEST(ValidateWeights, ResidentsOfEqualLabelsMayBeListedTwice) {
  Graph graph = with_parameters({8, 8});
  for (const OpId op : {v1, v2}) {
    graph = changed(graph, op, [](Operator& changing) { changing.parameters = "w"; });
  }
  expect_none(graph, two_gpus(8), cold(kBothOnFirst, {.resident = {{v1, d0}, {v2, d0}}}));
}

TEST(ValidateWeights, NoneAreUsedAfterTheyAreEvicted) {
  const Graph graph = with_parameters({8, 8, 0});
  const std::vector<std::vector<Stage>> devices = {{stage({{3}}), stage({{1}}), stage({{2}})}, {}};
  const auto evicted_after = [&](OpId op) {
    return cold(devices, {.lanes = {{{v1, kMain, d0}, {v2, kMain, d0}}},
                          .evictions = {{v2, d0, v2}, {v1, d0, op}}});
  };
  expect_none(graph, two_gpus(), evicted_after(v1));
  expect_none(graph, two_gpus(), evicted_after(v2));
  expect_only(
      graph, two_gpus(), evicted_after(v3), Rule::kWeightsGone, "$.weights.evict[1]",
      {"the eviction of v1 from gpu0 after v3", "v1 (device gpu0, stage 1, group 0) reads"});
}

TEST(ValidateWeights, OnlyWhatIsThereIsEvicted) {
  const Graph graph = with_parameters({8, 8});
  const auto with = [&](std::vector<Eviction> evictions) {
    return cold(kOneEach, {.lanes = {{{v1, kMain, d0}, {v2, kMain, d1}}}, .evictions = evictions});
  };
  expect_only(graph, two_gpus(), with({{v2, d0, v1}}), Rule::kWeightsGone, "$.weights.evict[0]",
              {"they never are there"});
  expect_only(graph, two_gpus(), with({{v1, d0, v2}}), Rule::kWeightsGone, "$.weights.evict[0]",
              {"v2 runs on gpu1; take an operator of the device"});
  expect_only(graph, two_gpus(), with({{v2, d1, v2}, {v1, d0, v1}, {v2, d1, v2}}),
              Rule::kWeightsGone, "$.weights.evict[2]", {"entry 0 evicts them already"});
}

TEST(ValidateWeights, NoEvictionComesBeforeItsLoad) {
  const Graph graph = with_parameters({8, 8, 0});
  // No operator on gpu1 waits for the parameters that are loaded there.
  Schedule schedule = cold(
      {{stage({{1}}), stage({{2}})}, {stage({{3}})}},
      {.lanes = {{{v1, kMain, d0}, {v2, kMain, d0}}, {{v1, d0, d1}}}, .evictions = {{v1, d1, v3}}});
  expect_only(graph, two_gpus(), schedule, Rule::kWeightsGone, "$.weights.evict[0]",
              {"the eviction of v1 from gpu1 after v3 may come before the load of v1"});
  schedule.weights->load_first = true;
  expect_none(graph, two_gpus(), schedule);
}

TEST(ValidateWeights, ALoadFromADeviceEndsBeforeTheEvictionThere) {
  const Graph graph = with_parameters({8, 8, 8}, {{v1, v2}, {v3, v2}});
  const std::vector<std::vector<Stage>> devices = {{stage({{1}}), stage({{2}})}, {stage({{3}})}};
  // v3's parameters go through gpu0, and v2 waits for v3.
  const auto evicted_after = [&](OpId op) {
    return cold(devices,
                {.lanes = {{{v1, kMain, d0}, {v3, kMain, d0}, {v2, kMain, d0}}, {{v3, d0, d1}}},
                 .evictions = {{v3, d0, op}}});
  };
  expect_none(graph, two_gpus(), evicted_after(v2));
  const auto findings = validate(graph, two_gpus(), evicted_after(v1));
  ASSERT_EQ(findings.size(), 2u) << "the load to gpu0 may come later, and so may that from there";
  EXPECT_EQ(findings[0].weights, "evict[0]");
  EXPECT_EQ(findings[1].weights, "lanes[1][0]");
  EXPECT_EQ(findings[1].rule, Rule::kWeightsGone);
  EXPECT_NE(
      findings[1].text.find("may not have ended before the eviction of v3 from gpu0 after v1"),
      std::string::npos)
      << findings[1].text;
}

TEST(ValidateWeights, LoadsNeedRoutesAndSources) {
  const Graph graph = with_parameters({8, 8});
  expect_only(graph, two_gpus(), cold(kOneEach, {.lanes = {{{v1, kDisk, d0}, {v2, kDisk, d1}}}}),
              Rule::kNoRoute, "$.weights.lanes[0][1]",
              {"the load of v2 from disk to gpu1", "no route from disk to gpu1"});
  expect_only(graph, two_gpus(), cold(kOneEach, {.lanes = {{{v1, kMain, d0}}, {{v2, d0, d1}}}}),
              Rule::kWeightsMissing, "$.weights.lanes[1][0]", {"gpu0 never holds them"});
  expect_only(graph, two_gpus(),
              cold(kOneEach, {.lanes = {{{v1, StoreId(5), d0}, {v2, kMain, d1}}}}), Rule::kNoRoute,
              "$.weights.lanes[0][0]", {"from store 5"});
  const auto findings = validate(graph, two_gpus(),
                                 cold(kOneEach, {.lanes = {{{v1, kMain, DeviceId(7)}}},
                                                 .evictions = {{v1, DeviceId(9), v1}},
                                                 .resident = {{v2, d1}, {v1, DeviceId(8)}}}));
  std::multiset<std::string> paths;
  for (const Finding& finding : findings) paths.insert(finding.weights);
  EXPECT_EQ(paths, (std::multiset<std::string>{"", "evict[0]", "lanes[0][0]", "resident[1]"}))
      << "the platform lacks these devices, and v1 its parameters";
}

TEST(ValidateWeights, EntriesAreOfOperatorsWithParameters) {
  const Graph graph = with_parameters({8, 0});
  expect_only(graph, two_gpus(), cold(kOneEach, {.lanes = {{{v1, kMain, d0}, {v2, kMain, d1}}}}),
              Rule::kWeightsUnneeded, "$.weights.lanes[0][1]", {"v2 has no parameters"});
  expect_only(graph, two_gpus(),
              cold(kOneEach, {.in_place = {{v2, kMain}}, .resident = {{v1, d0}}}),
              Rule::kWeightsUnneeded, "$.weights.in_place.v2", {"v2 has no parameters"});
  expect_only(graph, two_gpus(), cold(kOneEach, {.resident = {{v1, d0}, {v2, d1}}}),
              Rule::kWeightsUnneeded, "$.weights.resident[1]", {"v2 has no parameters"});
}

TEST(ValidateWeights, AnOperatorReadInPlaceIsAlone) {
  const Graph graph = with_parameters({8, 8, 0});
  const std::vector<std::vector<Stage>> together = {{stage({{1}, {2, 3}})}, {}};
  expect_only(graph, two_gpus(),
              cold(together, {.in_place = {{v1, kMain}}, .resident = {{v2, d0}}}), Rule::kInPlace,
              "$.weights.in_place.v1", {"v1", "v2 is there, too"});
  expect_only(graph, two_gpus(), cold(together, {.in_place = {{v1, kMain}, {v2, kMain}}}),
              Rule::kInPlace, "$.weights.in_place.v1", {"v2 is there, too"});
  const Weights both{.in_place = {{v1, kMain}, {v2, kDisk}}};
  expect_only(graph, two_gpus(), cold({{stage({{1}, {3}}), stage({{2}})}, {}}, both),
              Rule::kInPlace, "$.weights.in_place.v1", {"v3 is there, too"});
  expect_only(graph, two_gpus(), cold({{stage({{1}}), stage({{3, 2}})}, {}}, both), Rule::kInPlace,
              "$.weights.in_place.v2", {"v3 is there, too"});
  expect_none(graph, two_gpus(), cold({{stage({{1}}), stage({{2}}), stage({{3}})}, {}}, both));
}

TEST(ValidateWeights, ReadsInPlaceNeedATimeAndARoute) {
  const Graph graph = with_parameters({8, 8});
  const Schedule schedule = cold(kOneEach, {.in_place = {{v1, kDisk}, {v2, kMain}}});
  expect_none(graph, two_gpus(), schedule);
  const Graph untimed = changed(graph, v2, [](Operator& op) { op.in_place_ms.reset(); });
  expect_only(untimed, two_gpus(), schedule, Rule::kInPlace, "$.weights.in_place.v2",
              {"v2 (device gpu1, stage 0, group 0)", "no in_place_ms of it for gpu1"});
  const Graph of_the_other =
      changed(untimed, v2, [](Operator& op) { op.in_place_by_device["gpu0"] = 1; });
  expect_only(of_the_other, two_gpus(), schedule, Rule::kInPlace, "$.weights.in_place.v2",
              {"gpu1"});
  expect_only(graph, two_gpus(), cold(kOneEach, {.in_place = {{v1, kDisk}, {v2, kDisk}}}),
              Rule::kNoRoute, "$.weights.in_place.v2", {"no route from disk to gpu1"});
}

TEST(ValidateWeights, AnOperatorReadInPlaceIsNotLoadedToo) {
  const Graph graph = with_parameters({8, 8});
  expect_only(
      graph, two_gpus(),
      cold(kOneEach, {.lanes = {{{v1, kMain, d0}, {v2, kMain, d1}}}, .in_place = {{v2, kMain}}}),
      Rule::kWeightsTwice, "$.weights.in_place.v2",
      {"nothing else needs the load of v2 from main to gpu1 (lane 0, index 1)"});
  expect_only(graph, two_gpus(),
              cold(kOneEach, {.in_place = {{v1, kMain}, {v2, kMain}, {v1, kDisk}}}),
              Rule::kWeightsTwice, "$.weights.in_place.v1", {"twice"});
  Graph shared = graph;
  for (const OpId op : {v1, v2}) {
    shared = changed(shared, op, [](Operator& changing) { changing.parameters = "w"; });
  }
  expect_none(shared, two_gpus(),
              cold(kBothOnFirst, {.lanes = {{{v2, kMain, d0}}}, .in_place = {{v1, kMain}}}));
  expect_none(
      shared, two_gpus(),
      cold(kOneEach, {.lanes = {{{v1, kMain, d0}, {v2, d0, d1}}}, .in_place = {{v1, kMain}}}));
}

TEST(ValidateWeights, LanesThatWaitForEachOther) {
  const Graph graph = with_parameters({8, 8});
  // Each lane first takes from a device what the other lane would bring there afterwards.
  const Schedule crossed =
      cold({{stage({{2}})}, {stage({{1}})}},
           {.lanes = {{{v1, d0, d1}, {v2, kMain, d1}}, {{v2, d1, d0}, {v1, kMain, d0}}}});
  expect_only(
      graph, two_gpus(), crossed, Rule::kCycle, "$.weights.lanes[0][0]",
      {"cyclic wait: the load of v1 from gpu0 to gpu1 (lane 0, index 0) needs the load of v1 "
       "from main to gpu0 (lane 1, index 1), which comes after the load of v2 from gpu1"});
  const Schedule itself = cold({{stage({{2}})}, {stage({{1}})}},
                               {.lanes = {{{v1, d0, d1}, {v1, kMain, d0}, {v2, kMain, d0}}}});
  expect_only(graph, two_gpus(), itself, Rule::kCycle, "$.weights.lanes[0][0]", {"comes after"});
  const Schedule bounced = cold({{stage({{2}})}, {stage({{1}})}},
                                {.lanes = {{{v1, d0, d1}}, {{v1, d1, d0}}, {{v2, kMain, d0}}}});
  expect_only(graph, two_gpus(), bounced, Rule::kCycle, "$.weights.lanes[0][0]", {"cyclic wait"});
}

TEST(ValidateWeights, RoomAtTheBeginning) {
  const Graph graph =
      changed(with_parameters({8, 8}), v1, [](Operator& op) { op.memory_bytes = 3; });
  const Schedule schedule = cold(kBothOnFirst, {.resident = {{v1, d0}, {v2, d0}}});
  expect_none(graph, two_gpus(19), schedule);
  expect_only(graph, two_gpus(18), schedule, Rule::kMemory, "$.devices[0]",
              {"gpu0 has no room at the beginning", "19 bytes", "18"});
}

TEST(ValidateWeights, EvictionsMakeRoomForLoads) {
  const Graph graph = with_parameters({8, 8, 8}, {{v1, v2}, {v2, v3}});
  const std::vector<std::vector<Stage>> devices = {{stage({{1}}), stage({{2}}), stage({{3}})}, {}};
  const Lane in_order = {{v1, kMain, d0}, {v2, kMain, d0}, {v3, kMain, d0}};
  const std::vector<Eviction> one_by_one = {{v1, d0, v1}, {v2, d0, v2}};
  expect_none(graph, two_gpus(24), cold(devices, {.lanes = {in_order}}));
  expect_none(graph, two_gpus(8), cold(devices, {.lanes = {in_order}, .evictions = one_by_one}));
  expect_only(graph, two_gpus(16), cold(devices, {.lanes = {in_order}}), Rule::kMemory,
              "$.weights.lanes[0][2]",
              {"the load of v3 from main to gpu0 (lane 0, index 2)", "needs 24 bytes and has 16",
               "evictions free too little"});
  expect_only(graph, two_gpus(7), cold(devices, {.lanes = {in_order}, .evictions = one_by_one}),
              Rule::kMemory, "$.weights.lanes[0][2]", {"evictions free too little"});
  const std::vector<Eviction> late = {{v1, d0, v2}};
  expect_only(graph, two_gpus(15), cold(devices, {.lanes = {in_order}, .evictions = late}),
              Rule::kMemory, "$.weights.lanes[0][2]", {"evictions free too little"});
  Weights first{.lanes = {in_order}, .evictions = one_by_one};
  first.load_first = true;
  expect_only(graph, two_gpus(16), cold(devices, first), Rule::kMemory, "$.weights.lanes[0][2]",
              {"room after stage 0, which waits for this load itself"});
}

TEST(ValidateWeights, LoadsOfAnotherLaneMayTakeTheRoom) {
  const Graph graph = with_parameters({6, 6}, {{v1, v2}});
  const std::vector<Eviction> evictions = {{v1, d0, v1}};
  expect_none(
      graph, two_gpus(6),
      cold(kBothOnFirst, {.lanes = {{{v1, kMain, d0}, {v2, kMain, d0}}}, .evictions = evictions}));
  // If the second lane is the faster one, v1 never has room.
  expect_only(
      graph, two_gpus(6),
      cold(kBothOnFirst, {.lanes = {{{v1, kMain, d0}}, {{v2, kMain, d0}}}, .evictions = evictions}),
      Rule::kMemory, "$.weights.lanes[0][0]", {"needs 12 bytes and has 6"});
}

TEST(ValidateWeights, LoadsThatWaitForEachOthersRoom) {
  // v1 and v2 fill the devices at first. Each leaves only once an operator has run whose parameters
  // need the room of the other.
  const Graph graph =
      with_parameters({8, 8, 8, 8, 0, 0}, {{v1, OpId(4)}, {v3, OpId(5)}, {v4, OpId(4)}});
  const std::vector<std::vector<Stage>> devices = {{stage({{1}}), stage({{5}}), stage({{3}})},
                                                   {stage({{2}}), stage({{6}}), stage({{4}})}};
  const Schedule schedule = cold(devices, {.lanes = {{{v3, kMain, d0}}, {{v4, kMain, d1}}},
                                           .evictions = {{v1, d0, OpId(4)}, {v2, d1, v2}},
                                           .resident = {{v1, d0}, {v2, d1}}});
  const auto findings = validate(graph, two_gpus(8), schedule);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].rule, Rule::kCycle);
}

TEST(ValidateWeights, OtherRulesGoOnWithoutAnOrder) {
  const Graph graph = with_parameters({8, 8}, {{v1, v2}});
  const Schedule backward = cold({{stage({{2}}), stage({{1}})}, {}}, {.resident = {{v1, d0}}});
  const auto findings = validate(graph, two_gpus(), backward);
  ASSERT_EQ(findings.size(), 2u);
  EXPECT_EQ(findings[0].rule, Rule::kCycle);
  EXPECT_EQ(findings[1].rule, Rule::kWeightsMissing);
}

// Twenty thousand loads in two lanes, each with an eviction: n² steps would take too long.
TEST(ValidateWeights, LargeSchedules) {
  constexpr std::size_t kOperators = 20'000;
  std::vector<Operator> operators(kOperators);
  std::vector<Edge> edges;
  Schedule schedule = cold({{}, {}}, {.lanes = {{}, {}}});
  for (std::size_t i = 0; i < kOperators; ++i) {
    operators[i].name = "v" + std::to_string(i + 1);
    operators[i].parameter_bytes = 1;
    if (i > 0) edges.push_back({.from = OpId(i - 1), .to = OpId(i), .transfer_ms = {}});
    const DeviceId device(i % 2);
    schedule.devices[device.index()].push_back({{{OpId(i)}}});
    schedule.weights->lanes[device.index()].push_back({OpId(i), kMain, device});
    schedule.weights->evictions.push_back({OpId(i), device, OpId(i)});
  }
  const Graph graph("long", operators, edges);
  expect_none(graph, two_gpus(2), schedule);
  std::ranges::reverse(schedule.weights->lanes[0]);
  const auto findings = validate(graph, two_gpus(2), schedule);
  ASSERT_FALSE(findings.empty());
  EXPECT_LT(findings.size(), 100u);
}

}  // namespace
}  // namespace hios
