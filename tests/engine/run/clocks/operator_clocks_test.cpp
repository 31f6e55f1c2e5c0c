#include "engine/run/clocks/operator_clocks.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace hios {
namespace {

class Sleeper final : public BoundOperator {
 public:
  explicit Sleeper(int& runs) : runs_(runs) {}
  void run() override {
    ++runs_;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }

 private:
  int& runs_;
};

TEST(OperatorClocks, TimeOperatorsThatRunWhileTheyRecord) {
  OperatorClocks clocks;
  int first_runs = 0, second_runs = 0;
  const auto first = clocks.timed(std::make_unique<Sleeper>(first_runs), OpId(7));
  const auto second = clocks.timed(std::make_unique<Sleeper>(second_runs), OpId(3));
  first->run();
  for (const OperatorTime& time : clocks.times()) EXPECT_EQ(time.ms, 0) << "not recorded";
  clocks.record(true);
  second->run();
  clocks.record(false);
  first->run();
  EXPECT_EQ(first_runs, 2);
  EXPECT_EQ(second_runs, 1);
  const std::vector<OperatorTime> times = clocks.times();
  ASSERT_EQ(times.size(), 2u);
  EXPECT_EQ(times[0].op, OpId(7));
  EXPECT_EQ(times[0].ms, 0);
  EXPECT_EQ(times[1].op, OpId(3));
  EXPECT_GE(times[1].ms, 2);
}

TEST(OperatorClocks, StagesGiveTheTimesOfSingleOperators) {
  const std::vector<Stage> stages = {
      {{{OpId(0)}}}, {{{OpId(1), OpId(2)}}}, {{{OpId(3)}, {OpId(4)}}}, {{{OpId(5)}}}};
  const std::vector<StageTimes> times = {{0, 0, 1, 1.5}, {0, 0, 2, 3}, {0, 0, 3, 4}, {0, 0, 5, 7}};
  const std::vector<OperatorTime> lone = lone_operators(stages, times);
  ASSERT_EQ(lone.size(), 2u);
  EXPECT_EQ(lone[0].op, OpId(0));
  EXPECT_EQ(lone[0].ms, 0.5);
  EXPECT_EQ(lone[1].op, OpId(5));
  EXPECT_EQ(lone[1].ms, 2);
}

}  // namespace
}  // namespace hios
