#include "engine/run/plan/plan.h"

#include <gtest/gtest.h>

#include "support/networks/random_network.h"

namespace hios {
namespace {

TEST(Segments, NoStepsHaveNone) { EXPECT_TRUE(cut_segments({}).empty()); }

TEST(Segments, AMessageStepCuts) {
  const std::vector<Step> steps = {Compute{0},         Compute{1},   StartSend{0},
                                   AwaitReceive{0, 2}, AwaitSend{0}, Compute{2},
                                   StartSend{1},       Compute{3},   Compute{4}};
  EXPECT_EQ(cut_segments(steps), (std::vector<Segment>{{0, 2}, {5, 6}, {7, 9}}));
}

TEST(Segments, OneRankIsOneSegment) {
  const test::RandomNetwork network = test::random_network(20, 1);
  const RankPlan plan =
      plan_rank(network.coarse, test::random_schedule(network.coarse.graph, 1, 3, 1), Rank(0));
  EXPECT_EQ(cut_segments(plan.steps), (std::vector<Segment>{{0, plan.steps.size()}}));
}

TEST(Segments, HoldEveryStageOnceInOrderAndNoMessage) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const test::RandomNetwork network = test::random_network(5 + seed % 30, seed);
    const std::size_t ranks = 1 + seed % 4;
    const Schedule schedule = test::random_schedule(network.coarse.graph, ranks, 3, seed);
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      SCOPED_TRACE("seed " + std::to_string(seed) + ", rank " + std::to_string(rank));
      const RankPlan plan = plan_rank(network.coarse, schedule, Rank(rank));
      std::size_t stage = 0, previous_end = 0;
      for (const Segment& segment : cut_segments(plan.steps)) {
        ASSERT_LT(segment.first, segment.end);
        // Maximal: there is a step between two segments, and all such steps are messages.
        ASSERT_TRUE(stage == 0 || segment.first > previous_end);
        for (std::size_t step = previous_end; step < segment.first; ++step) {
          EXPECT_FALSE(std::holds_alternative<Compute>(plan.steps[step]));
        }
        for (std::size_t step = segment.first; step < segment.end; ++step) {
          ASSERT_TRUE(std::holds_alternative<Compute>(plan.steps[step]));
          EXPECT_EQ(stage_of(plan.steps[step]), stage++);
        }
        previous_end = segment.end;
      }
      EXPECT_EQ(stage, plan.stages.size());
    }
  }
}

}  // namespace
}  // namespace hios
