// One function draws planned and measured timelines, with everything that is in a timeline.
#include "hios/report/draw_timeline.h"

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "support/graphs/dag_generator.h"
#include "support/graphs/small_graph.h"

namespace hios {
namespace {

using test::stage;

/// Rank 0: v1, then v2 in parallel with v3 + v4. Rank 1: v5, which needs v1.
const Graph& graph() {
  static const Graph made = test::small_graph({2, 4, 1, 1, 3}, {{1, 2, 1}, {3, 4, 1}, {1, 5, 5}});
  return made;
}

const Schedule& schedule() {
  static const Schedule made{{{stage({{1}}), stage({{2}, {3, 4}})}, {stage({{5}})}}};
  return made;
}

struct Slice {
  double start_us = 0, duration_us = 0;
  std::string lane;
};

/// Slices by their names; and the ends of arrows ("s", "f") by theirs.
struct Picture {
  std::multimap<std::string, Slice> slices;
  std::map<std::string, Slice> tails, heads;
};

Picture picture_of(const Trace& trace) {
  const Json json = trace.json();
  std::map<int, std::string> lanes;
  Picture picture;
  for (const Json& event : json["traceEvents"]) {
    if (event["name"] == "thread_name") lanes[event["tid"]] = event["args"]["name"];
  }
  for (const Json& event : json["traceEvents"]) {
    if (event["ph"] == "M") continue;
    const Slice slice{event["ts"], event.value("dur", 0.0), lanes[event["tid"]]};
    if (event["ph"] == "X") picture.slices.emplace(event["name"], slice);
    if (event["ph"] == "s") picture.tails[event["name"]] = slice;
    if (event["ph"] == "f") picture.heads[event["name"]] = slice;
  }
  return picture;
}

TEST(DrawTimeline, APlanShowsItsOperators) {
  const Platform platform = test::devices(2, 2);
  const CostModel costs = CostModel::from_graph(graph(), platform);
  const Picture picture = picture_of(planned_trace(graph(), schedule(), costs));
  EXPECT_EQ(picture.slices.size(), 5u) << "no waits, an operator a slice";
  const Slice& v4 = picture.slices.find("v4")->second;
  EXPECT_EQ(v4.lane, "rank 0 stream 1");
  const Slice& v3 = picture.slices.find("v3")->second;
  EXPECT_DOUBLE_EQ(v4.start_us, v3.start_us + v3.duration_us);
  EXPECT_EQ(picture.slices.find("v5")->second.start_us, 7000);
  EXPECT_EQ(picture.tails.at("v1").lane, "rank 0 stream 0");
  EXPECT_EQ(picture.heads.at("v1").lane, "rank 1 stream 0");
  EXPECT_EQ(picture.heads.at("v1").start_us, 7000);
}

TEST(DrawTimeline, APlanShowsWhenSharedLinksCarryWhat) {
  const Graph two = test::small_graph({2, 1, 1, 1}, {{1, 3, 5}, {2, 4, 4}});
  const Schedule made{{{stage({{1}}), stage({{2}})}, {stage({{3}}), stage({{4}})}}};
  const Platform apart = test::devices(2, 1);
  const Platform shared({apart.devices().begin(), apart.devices().end()}, {}, {},
                        {Contention::kLink});
  const auto picture = [&](const Platform& platform) {
    return picture_of(planned_trace(two, made, CostModel::from_graph(two, platform)));
  };
  EXPECT_EQ(picture(apart).slices.size(), 4u);
  const Picture carried = picture(shared);
  EXPECT_EQ(carried.slices.size(), 6u);
  const auto [first, last] = carried.slices.equal_range("v2");
  ASSERT_EQ(std::distance(first, last), 2);
  const Slice& slice = std::next(first)->second;
  EXPECT_EQ(slice.lane, "rank 0 to rank 1");
  EXPECT_EQ(slice.start_us, 7000) << "ready at 3, after v1's";
  EXPECT_EQ(slice.duration_us, 4000);
}

TEST(DrawTimeline, AMeasurementShowsGroupsWaitsAndRealTransfers) {
  Timeline timeline;
  timeline.stages = {{{0, 0, 0, 2}, {2, 0, 2.5, 6}}, {{0, 4, 4.5, 7}}};
  timeline.transfers = {{OpId(0), DeviceId(0), DeviceId(1), 1.5, 4, 1000}};
  Trace trace;
  draw_timeline("measured", graph(), schedule(), timeline, nullptr, {}, trace);
  const Picture picture = picture_of(trace);
  EXPECT_EQ(picture.slices.count("v3 + v4"), 1u);
  EXPECT_EQ(picture.slices.find("v3 + v4")->second.lane, "rank 0 stream 1");
  EXPECT_EQ(picture.slices.count("waiting"), 2u);
  EXPECT_EQ(picture.tails.at("v1").start_us, 1500) << "when it was sent, not when its stage ended";
  EXPECT_EQ(picture.heads.at("v1").start_us, 4000) << "when it was there, not when it was read";
}

/// Lane 0 loads v1's parameters from a store to rank 0, and passes them on to rank 1; lane 1 loads
/// those of v2.
Schedule cold_schedule() {
  Schedule cold = schedule();
  Weights& weights = cold.weights.emplace();
  weights.lanes = {{{OpId(0), StoreId(0), DeviceId(0)}, {OpId(0), DeviceId(0), DeviceId(1)}},
                   {{OpId(1), StoreId(0), DeviceId(0)}}};
  return cold;
}

const std::vector<Store> kLoadedFrom = {{"dram", "", StoreKind::kMemory}};

Timeline cold_timeline() {
  Timeline timeline;
  timeline.stages = {{{0, 0, 4, 6}, {6, 0, 6, 9}}, {{0, 11, 11, 14}}};
  timeline.loads = {{0, 0, 0, 0, 4, 400}, {0, 1, 4, 4, 5, 400}, {1, 0, 0, 2.5, 5.5, 300}};
  return timeline;
}

TEST(DrawTimeline, LoadsHaveALaneForEachOfTheirs) {
  Trace trace;
  draw_timeline("measured", graph(), cold_schedule(), cold_timeline(), nullptr, kLoadedFrom, trace);
  const Picture picture = picture_of(trace);
  const auto [first, end] = picture.slices.equal_range("load v1");
  ASSERT_EQ(std::distance(first, end), 2);
  EXPECT_EQ(first->second.lane, "loads 0");
  EXPECT_EQ(first->second.start_us, 0);
  EXPECT_EQ(first->second.duration_us, 4000);
  EXPECT_EQ(std::next(first)->second.start_us, 4000);
  const Slice& other = picture.slices.find("load v2")->second;
  EXPECT_EQ(other.lane, "loads 1");
  EXPECT_EQ(other.start_us, 2500);
  EXPECT_EQ(other.duration_us, 3000);
  std::size_t waits = 0;
  for (const auto& [name, slice] : picture.slices) {
    if (name != "waiting" || slice.lane != "loads 1") continue;
    ++waits;
    EXPECT_EQ(slice.duration_us, 2500) << "for room, or for its source";
  }
  EXPECT_EQ(waits, 1U);
}

TEST(DrawTimeline, LoadsNameTheirEndsBelowTheRanks) {
  const Platform plain = test::devices(2, 2);
  const Platform routed(
      {plain.devices().begin(), plain.devices().end()}, kLoadedFrom, {},
      {{StoreId(0), DeviceId(0), {}, 0, 1}, {DeviceId(0), DeviceId(1), {}, 0, 1}});
  const CostModel costs = CostModel::from_graph(graph(), routed);
  const auto args = [&](const CostModel* known) {
    Trace trace;
    draw_timeline("planned", graph(), cold_schedule(), cold_timeline(), known, kLoadedFrom, trace);
    std::vector<std::string> texts, lanes;
    const Json json = trace.json();
    for (const Json& event : json["traceEvents"]) {
      if (event["name"] == "thread_name") lanes.push_back(event["args"]["name"]);
      if (event["name"] == "load v1") texts.push_back(event["args"].dump());
    }
    EXPECT_EQ(lanes.size(), 5U);
    EXPECT_EQ(lanes.back(), "loads 1") << "after the ranks, in order";
    EXPECT_EQ(lanes[3], "loads 0");
    return texts;
  };
  const std::vector<std::string> expected = {R"({"from":"dram","to":"rank 0","size_bytes":400})",
                                             R"({"from":"rank 0","to":"rank 1","size_bytes":400})"};
  EXPECT_EQ(args(&costs), expected);
  EXPECT_EQ(args(nullptr), expected) << "a measurement has no costs, and the same names";
}

TEST(DrawTimeline, AnArrowEndsInTheStageThatRunsWhenTheTensorComes) {
  const Graph two = test::small_graph({1, 5, 1}, {{1, 3, 1}});
  const Schedule made{{{stage({{1}})}, {stage({{2}}), stage({{3}})}}};
  Timeline timeline;
  timeline.stages = {{{0, 0, 0, 1}}, {{0, 0, 0, 5}, {5, 2, 5, 6}}};
  timeline.transfers = {{OpId(0), DeviceId(0), DeviceId(1), 1, 2, 1000}};
  const auto head_us = [&] {
    Trace trace;
    draw_timeline("measured", two, made, timeline, nullptr, {}, trace);
    return picture_of(trace).heads.at("v1").start_us;
  };
  EXPECT_EQ(head_us(), 2000);
  timeline.transfers[0].end_ms = 8;  // for a consumer after the first, which did not wait for it
  EXPECT_EQ(head_us(), 5000);
}

}  // namespace
}  // namespace hios
