// Loads of several ranks: lanes that go from rank to rank, and parameters that ranks send.
#include "engine/cold/load_exchange.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/cold/planned_loads.h"
#include "hios/evaluate/validate.h"
#include "support/graphs/cold_cases.h"
#include "support/oracles/cold/load_player.h"

namespace hios {
namespace {

std::vector<PlannedLoads> plans_of(const Graph& graph, const Schedule& schedule) {
  std::vector<PlannedLoads> plans;
  for (std::size_t r = 0; r < schedule.devices.size(); ++r) {
    plans.push_back(plan_loads(graph, schedule, Rank(r)));
  }
  return plans;
}

// Schedules that validate() accepts, with all that their weights may have.
TEST(LoadExchange, AnyOrderOfEventsEndsAndFollowsTheSchedule) {
  std::size_t sends = 0, batons = 0, ends = 0, evictions = 0, accepted = 0;
  for (std::uint64_t seed = 0; seed < 600; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const test::ColdCase cold =
        test::random_cold_case({.most_operators = 12, .most_devices = 4}, random);
    if (!validate(cold.graph, cold.platform, cold.schedule).empty()) continue;
    ++accepted;
    const auto plans = plans_of(cold.graph, cold.schedule);
    for (const PlannedLoads& plan : plans) {
      sends += plan.exchange.sends.size();
      batons += plan.exchange.batons_sent.size();
      ends += plan.exchange.reports_to.size();
      evictions += plan.evictions.size();
      EXPECT_EQ(plan.exchange.any, plans.front().exchange.any);
    }
    for (int order = 0; order < 4; ++order) {
      EXPECT_EQ(test::play_loads(cold.graph, cold.schedule, plans, random),
                std::vector<std::string>());
    }
  }
  EXPECT_GT(accepted, 300u);
  EXPECT_GT(sends, 100u);
  EXPECT_GT(batons, 100u);
  EXPECT_GT(ends, 50u);
  EXPECT_GT(evictions, 100u);
}

/// Two operators on a device each; both have parameters.
class TwoRanks : public testing::Test {
 protected:
  TwoRanks() {
    std::vector<Operator> operators(2);
    for (std::size_t i = 0; i < 2; ++i) {
      operators[i].name = i == 0 ? "a" : "b";
      operators[i].has_time = true;
      operators[i].parameter_bytes = 8 + i;
    }
    graph_ = Graph("two", std::move(operators), {{OpId(0), OpId(1), 4, {}}});
    schedule_.devices = {one_operator_stages({OpId(0)}), one_operator_stages({OpId(1)})};
    schedule_.weights.emplace();
  }
  std::vector<PlannedLoads> plans() const { return plans_of(graph_, schedule_); }

  static constexpr OpId kA{0}, kB{1};
  static constexpr DeviceId kFirst{0}, kSecond{1};
  Graph graph_;
  Schedule schedule_;
};

TEST_F(TwoRanks, ALaneGoesOnAtTheOtherRankByABaton) {
  schedule_.weights->lanes = {{{kA, StoreId(0), kFirst}, {kB, StoreId(0), kSecond}}};
  const auto planned = plans();
  ASSERT_EQ(planned[0].exchange.batons_sent.size(), 1u);
  EXPECT_EQ(planned[0].exchange.batons_sent[0].to, Rank(1));
  ASSERT_EQ(planned[1].exchange.batons_received.size(), 1u);
  ASSERT_TRUE(planned[1].exchange.batons_received[0].opens);
  EXPECT_EQ(planned[1].lanes[0][0].baton, Rank(0));
  EXPECT_FALSE(planned[0].lanes[0][0].baton);
}

TEST_F(TwoRanks, ARankThatPassesParametersOnHoldsThem) {
  schedule_.weights->lanes = {
      {{kA, StoreId(0), kSecond}, {kA, kSecond, kFirst}, {kB, StoreId(0), kSecond}}};
  schedule_.weights->evictions = {{kA, kSecond, kB}};
  const auto planned = plans();
  ASSERT_EQ(planned[1].held.size(), 1u);
  EXPECT_EQ(planned[1].held[0].op, kA);
  EXPECT_TRUE(planned[0].held.empty());
  ASSERT_EQ(planned[1].exchange.sends.size(), 1u);
  EXPECT_EQ(planned[1].exchange.sends[0].after.size(), 2u) << "it holds them, and its turn";
  EXPECT_EQ(planned[0].lanes[0][0].from, Rank(1));
  ASSERT_EQ(planned[0].exchange.batons_sent.size(), 1u) << "the receiver knows the end";
  ASSERT_EQ(planned[1].evictions.size(), 1u);
  EXPECT_EQ(planned[1].evictions[0].sends, std::vector<std::size_t>{0});
  EXPECT_FALSE(planned[1].evictions[0].resident);
}

TEST_F(TwoRanks, ALoadThatNobodyNeedsIsLeftOutAndItsLaneGoesOn) {
  schedule_.weights->lanes = {
      {{kA, StoreId(0), kFirst}, {kA, StoreId(0), kSecond}, {kB, StoreId(0), kSecond}}};
  const auto planned = plans();
  ASSERT_EQ(planned[1].lanes[0].size(), 1u);
  EXPECT_EQ(planned[1].lanes[0][0].index, 2u);
  EXPECT_EQ(planned[0].exchange.batons_sent.size(), 1u);
  EXPECT_TRUE(planned[1].held.empty());
}

TEST_F(TwoRanks, WhereAllLoadsComeFirstRanksTellEachOther) {
  schedule_.weights->lanes = {{{kA, StoreId(0), kFirst}}, {{kB, StoreId(0), kSecond}}};
  EXPECT_FALSE(plans()[0].exchange.any);
  schedule_.weights->load_first = true;
  const auto planned = plans();
  EXPECT_EQ(planned[0].exchange.reports_to, std::vector{Rank(1)});
  EXPECT_EQ(planned[0].exchange.reports_from, std::vector{Rank(1)});
  EXPECT_EQ(planned[1].exchange.reports_from, std::vector{Rank(0)});
}

}  // namespace
}  // namespace hios
