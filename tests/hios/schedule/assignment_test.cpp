#include "hios/schedule/assignment.h"

#include <gtest/gtest.h>

#include "support/graphs/small_graph.h"

namespace hios {
namespace {

using test::stage;

TEST(Assignment, IsTheScheduleReadTheOtherWayRound) {
  const Schedule schedule{{{stage({{1}}), stage({{2}, {4, 5}})}, {}, {stage({{3}})}}};
  const Assignment assignment(5, schedule);
  EXPECT_TRUE(assignment.is_complete());
  EXPECT_EQ(assignment[OpId(0)], (AssignedTo{DeviceId(0), 0, 0, 0}));
  EXPECT_EQ(assignment[OpId(4)], (AssignedTo{DeviceId(0), 1, 1, 1}));
  EXPECT_EQ(assignment[OpId(2)], (AssignedTo{DeviceId(2), 0, 0, 0}));
  EXPECT_EQ(assignment.stage_count(), 3u);
  EXPECT_EQ(assignment.stage_number(OpId(3)), 1u);
  EXPECT_EQ(assignment.stage_number(OpId(2)), 2u);
  EXPECT_EQ(assignment.stage_number(DeviceId(1), 0), 2u) << "the number that would come next";
}

TEST(Assignment, NamesOperatorsThatAScheduleLacks) {
  const Assignment assignment(3, Schedule{{{stage({{1}}), stage({{3}})}}});
  EXPECT_FALSE(assignment.is_complete());
  EXPECT_FALSE(assignment.find(OpId(1)));
  EXPECT_TRUE(assignment.find(OpId(2)));
}

TEST(Assignment, TheFirstOfTwoPositionsCounts) {
  const Assignment assignment(2, Schedule{{{stage({{1}, {2}})}, {stage({{2}})}}});
  EXPECT_FALSE(assignment.is_complete());
  EXPECT_EQ(assignment[OpId(1)], (AssignedTo{DeviceId(0), 0, 1, 0}));
}

TEST(Assignment, IsCompleteWithoutOperators) {
  EXPECT_TRUE(Assignment(0, {}).is_complete());
  EXPECT_EQ(Assignment(0, {}).stage_count(), 0u);
  EXPECT_EQ(Assignment().stage_count(), 0u);
}

}  // namespace
}  // namespace hios
