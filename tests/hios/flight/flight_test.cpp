#include "hios/flight/flight.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/expect_error.h"
#include "support/schema.h"

namespace hios::flight {
namespace {

Flight sample_flight() {
  Flight flight;
  flight.program = "probe";
  flight.job = "n1-77-1";
  flight.rank = 1;
  flight.ranks = 4;
  flight.host = "n1";
  flight.process = 77;
  flight.written_s = 1.7e9;
  flight.ending = Ending::kTimeOut;
  flight.reason = "no progress";
  flight.phase = "running";
  flight.events = {{EventKind::kPhase, 100, 0, "running", "", {}, {}, 0},
                   {EventKind::kStage, 50, 3, "stage 4: a | b", "", {}, 4, 0},
                   {EventKind::kOperator, 40, 3, "", "a", {}, 4, 0},
                   {EventKind::kOperator, 39, 3, "", "b", {}, 4, 0},
                   {EventKind::kOperatorEnd, 30, 3, "", "a", {}, 4, 0}};
  return flight;
}

TEST(Flight, IsReadAsItWasWritten) {
  const Json json = to_json(sample_flight());
  test::expect_meets_schema(json);
  const Flight again = parse_flight(JsonView(json, "flight.json"));
  EXPECT_EQ(to_json(again), json);
  EXPECT_EQ(again.events.size(), 5u);
  Flight bare;
  test::expect_meets_schema(to_json(bare));
  EXPECT_FALSE(parse_flight(JsonView(to_json(bare), "bare")).rank);
}

TEST(Flight, RefusesUnknownValuesAndKeys) {
  const auto refused = [](const char* key, const Json& value) {
    Json json = to_json(sample_flight());
    json[key] = value;
    EXPECT_THROW(parse_flight(JsonView(json, "flight.json")), InputError) << key;
  };
  refused("version", 2);
  refused("ending", "lost");
  refused("rank", -1);
  refused("rank", 4);
  refused("ranks", 1'000'000'000);
  refused("events", Json::array({Json{{"event", "conv"}, {"age_ms", 0}, {"iteration", 0}}}));
  refused("colour", "red");
}

TEST(Flight, NamesTheRunningStep) {
  Flight flight = sample_flight();
  EXPECT_EQ(standing_text(flight), "b in stage 4, iteration 3");
  flight.events.push_back({EventKind::kAwaitReceive, 9, 3, "waiting for c", "c", 0, 5, 8});
  EXPECT_EQ(standing_text(flight), "waiting for c, iteration 3");
  flight.events.push_back({EventKind::kIterationEnd, 8, 3, "", "", {}, {}, 0});
  EXPECT_EQ(standing_text(flight), "after iteration 3");
  flight.events.push_back({EventKind::kCollective, 7, 0, "waiting (barrier)", "", {}, {}, 0});
  EXPECT_EQ(standing_text(flight), "waiting (barrier)");
  flight.events.push_back({EventKind::kCollectiveEnd, 6, 0, "waiting (barrier)", "", {}, {}, 0});
  EXPECT_EQ(standing_text(flight), "after iteration 3");
  flight.events.push_back({EventKind::kPhase, 5, 0, "verifying", "", {}, {}, 0});
  EXPECT_EQ(standing_text(flight), "verifying");
}

}  // namespace
}  // namespace hios::flight
