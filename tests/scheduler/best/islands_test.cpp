#include "scheduler/best/islands.h"

#include <gtest/gtest.h>

#include "hios/evaluate/simulate.h"
#include "scheduler/algorithms/baselines/sequential.h"
#include "support/graphs/dag_generator.h"
#include "support/oracles/searched.h"

namespace hios::scheduler::best {
namespace {

/// A problem with a long schedule and a shorter one.
class TwoSchedules : public testing::Test {
 protected:
  void SetUp() override { ASSERT_LT(short_ms_, 0.9 * long_ms_); }

  Random random_{7, "islands"};
  const Graph graph_ = test::random_graph(12, 0.1, {}, random_);
  const Platform platform_ = test::devices(3, 1);
  const CostModel costs_ = CostModel::from_graph(graph_, platform_);
  const Schedule long_{{sequential(graph_), {}, {}}};
  const Schedule short_ = search_for(costs_, 1000).schedule;
  const double long_ms_ = simulate(graph_, long_, costs_).latency_ms;
  const double short_ms_ = simulate(graph_, short_, costs_).latency_ms;
};

TEST_F(TwoSchedules, TheLastIslandTakesTheShorterAndEveryOtherAdoptsIt) {
  Islands islands(costs_, std::vector{long_}, 4, 1);
  islands.take(short_, short_ms_);
  EXPECT_NEAR(islands[3].best_ms(), short_ms_, 1e-9);
  islands.exchange();
  for (const std::size_t island : {1, 3}) EXPECT_NEAR(islands[island].best_ms(), short_ms_, 1e-9);
  for (const std::size_t island : {0, 2}) EXPECT_NEAR(islands[island].best_ms(), long_ms_, 1e-9);
}

TEST_F(TwoSchedules, NoIslandTakesTheLonger) {
  Islands islands(costs_, std::vector{short_}, 2, 1);
  islands.take(long_, long_ms_);
  for (const std::size_t island : {0, 1}) EXPECT_NEAR(islands[island].best_ms(), short_ms_, 1e-9);
}

TEST_F(TwoSchedules, HalfOfTheIslandsBeginWithTheSecond) {
  Islands islands(costs_, std::vector{long_, short_}, 4, 1);
  for (const std::size_t island : {0, 1}) EXPECT_NEAR(islands[island].best_ms(), long_ms_, 1e-9);
  for (const std::size_t island : {2, 3}) EXPECT_NEAR(islands[island].best_ms(), short_ms_, 1e-9);
  EXPECT_NEAR(Islands(costs_, std::vector{long_, short_}, 1, 1)[0].best_ms(), long_ms_, 1e-9);
}

}  // namespace
}  // namespace hios::scheduler::best
