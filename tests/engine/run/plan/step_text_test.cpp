#include "engine/run/plan/step_text.h"

#include <gtest/gtest.h>

#include "support/networks/random_network.h"

namespace hios {
namespace {

TEST(StepText, ListsAPlanWithTheSizesOfItsMessages) {
  const test::RandomNetwork network = test::random_network(9, 1);
  RankPlan plan;
  plan.stages = {{{{OpId(0)}, {OpId(1), OpId(2)}}}, {{{OpId(3)}}}};
  plan.receives = {{.op = OpId(5), .peer = Rank(1), .stage = 1, .bytes = {0, 64}}};
  plan.sends = {{.op = OpId(0), .peer = Rank(2), .bytes = {0, 4096}}};
  plan.steps = {Compute{0}, StartSend{0}, AwaitReceive{0, 1}, AwaitSend{0}, Compute{1}};
  EXPECT_EQ(steps_text(plan, network.coarse.graph),
            "  stage 0: op_0 | op_1, op_2\n"
            "  sending op_0 to rank 2 (4096 bytes)\n"
            "  waiting for op_5 from rank 1 (64 bytes), which stage 1 needs: op_3\n"
            "  waiting for the send of op_0 to rank 2 (4096 bytes)\n"
            "  stage 1: op_3\n");
}

TEST(StepText, NameTheOperatorsOfEachStream) {
  const test::RandomNetwork network = test::random_network(9, 1);
  RankPlan plan;
  plan.stages = {{{{OpId(0)}, {OpId(1), OpId(2)}}},
                 {{{OpId(3), OpId(4), OpId(5)}, {OpId(6)}, {OpId(7)}}},
                 {{{OpId(8)}}}};
  plan.steps = {Compute{0}, Compute{1}, AwaitReceive{0, 2}, Compute{2}};
  const std::vector<Segment> segments = cut_segments(plan.steps);
  ASSERT_EQ(segments.size(), 2u);
  EXPECT_EQ(by_stream(std::span(segments).first(1), plan, network.coarse.graph),
            "stream 0: op_0, op_3, op_4, op_5; stream 1: op_1, op_2, op_6; stream 2: op_7");
  EXPECT_EQ(by_stream(segments, plan, network.coarse.graph),
            "stream 0: op_0, op_3, op_4 … op_8 (5 operators); stream 1: op_1, op_2, op_6; "
            "stream 2: op_7");
  EXPECT_EQ(by_stream({}, plan, network.coarse.graph), "");
}

}  // namespace
}  // namespace hios
