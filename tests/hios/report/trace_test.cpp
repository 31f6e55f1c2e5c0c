#include "hios/report/trace.h"
#include "hios/base/json/json_parse.h"
#include "hios/base/json/json_text.h"

#include <map>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace hios {
namespace {

/// The events of one phase.
std::vector<Json> of_phase(const Json& trace, const std::string& phase) {
  std::vector<Json> found;
  for (const Json& event : trace["traceEvents"]) {
    if (event["ph"] == phase) found.push_back(event);
  }
  return found;
}

Trace two_ranks() {
  Trace trace;
  trace.slice("planned", "rank 0", "conv_1", 0, 1.5, Json{{"stage", 0}});
  trace.slice("planned", "rank 1", "conv_2", 1.75, 2);
  trace.slice("measured", "rank 0", "conv_1", 0.001, 1.4);
  return trace;
}

TEST(Trace, NamesProcessesAndLanesOnce) {
  std::map<std::string, std::vector<Json>> names;
  for (const Json& event : of_phase(two_ranks().json(), "M")) names[event["name"]].push_back(event);
  ASSERT_EQ(names["process_name"].size(), 2U);
  EXPECT_EQ(names["process_name"][0]["args"]["name"], "planned");
  ASSERT_EQ(names["thread_name"].size(), 3U);
  EXPECT_EQ(names["thread_name"][1]["args"]["name"], "rank 1");
  EXPECT_EQ(names["thread_name"][1]["pid"], names["process_name"][0]["pid"]);
  EXPECT_EQ(names["thread_name"][2]["pid"], names["process_name"][1]["pid"]);
  EXPECT_NE(names["thread_name"][0]["tid"], names["thread_name"][2]["tid"]);
}

TEST(Trace, SlicesAreInMicroseconds) {
  const std::vector<Json> slices = of_phase(two_ranks().json(), "X");
  ASSERT_EQ(slices.size(), 3U);
  EXPECT_EQ(slices[0]["name"], "conv_1");
  EXPECT_EQ(slices[0]["ts"], 0);
  EXPECT_EQ(slices[0]["dur"], 1500);
  EXPECT_EQ(slices[0]["args"]["stage"], 0);
  EXPECT_EQ(slices[1]["ts"], 1750);
  EXPECT_FALSE(slices[1].contains("args"));
}

/// The slice of the same lane that covers an arrow's end, as viewers look for it.
std::string slice_at(const Json& trace, const Json& end) {
  for (const Json& slice : of_phase(trace, "X")) {
    const double start = slice["ts"], moment = end["ts"], length = slice["dur"];
    if (slice["tid"] == end["tid"] && slice["pid"] == end["pid"] && start <= moment &&
        moment < start + length) {
      return slice["name"];
    }
  }
  return {};
}

TEST(Trace, ArrowsEndInsideSlices) {
  Trace trace = two_ranks();
  // At the ends exactly, between slices, and within.
  trace.arrow("planned", "rank 0", 1.5, "rank 1", 1.75, "message");
  trace.arrow("planned", "rank 0", 1.6, "rank 1", 1.7, "message");
  trace.arrow("planned", "rank 0", 1.0, "rank 1", 1.9, "message");
  const Json json = trace.json();
  const std::vector<Json> starts = of_phase(json, "s"), ends = of_phase(json, "f");
  ASSERT_EQ(starts.size(), 3U);
  ASSERT_EQ(ends.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    SCOPED_TRACE(i);
    EXPECT_EQ(slice_at(json, starts[i]), "conv_1");
    EXPECT_EQ(slice_at(json, ends[i]), "conv_2");
    EXPECT_EQ(starts[i]["id"], ends[i]["id"]);
    EXPECT_EQ(starts[i]["cat"], ends[i]["cat"]);
    EXPECT_EQ(starts[i]["name"], ends[i]["name"]);
    EXPECT_EQ(ends[i]["bp"], "e");
    EXPECT_FALSE(starts[i].contains("bp"));
  }
  EXPECT_NE(starts[0]["id"], starts[1]["id"]);
  EXPECT_EQ(starts[2]["ts"], 1000);
  EXPECT_EQ(ends[2]["ts"], 1900);
}

TEST(Trace, KeepsArrowsOfLanesWithoutSlices) {
  Trace trace;
  trace.arrow("p", "a", 1, "b", 2, "m");
  EXPECT_EQ(of_phase(trace.json(), "s")[0]["ts"], 1000);
  EXPECT_EQ(of_phase(trace.json(), "f")[0]["ts"], 2000);
}

TEST(Trace, IsFitForAFile) {
  EXPECT_EQ(parse_json(to_text(two_ranks().json()), "t"), two_ranks().json());
}

}  // namespace
}  // namespace hios
