#include "scheduler/list/timeline.h"

#include <gtest/gtest.h>

#include "support/graphs/dag_generator.h"
#include "support/graphs/small_graph.h"

namespace hios::scheduler {
namespace {

using test::d0;
using test::d1;
using test::v;
using test::v1;
using test::v2;
using test::v3;
using test::v4;

class ListTimelineTest : public ::testing::Test {
 protected:
  Graph graph_ = test::small_graph({2, 3, 1, 1}, {{1, 2, 4}});
  Platform platform_ = test::devices(2, 1);
  CostModel costs_ = CostModel::from_graph(graph_, platform_);
};

TEST_F(ListTimelineTest, StartsWhenInputsAndDeviceAllow) {
  ListTimeline timeline(graph_, costs_);
  EXPECT_EQ(timeline.earliest_start_ms(v2, d0), 0) << "inputs that are not placed are ignored";
  timeline.place(v1, d0);
  EXPECT_EQ(timeline.earliest_start_ms(v2, d0), 2);
  EXPECT_EQ(timeline.earliest_start_ms(v2, d1), 2 + 4);
  timeline.place(v3, d0);
  EXPECT_EQ(timeline.earliest_start_ms(v2, d0), 3);
  timeline.place(v2, d1);
  EXPECT_EQ(timeline.latency_ms(), 9);
  EXPECT_EQ(timeline.device(v2), d1);
  EXPECT_FALSE(timeline.device(v4).has_value());
}

TEST_F(ListTimelineTest, AppendsUnlessInsertionIsOn) {
  for (bool insertion : {false, true}) {
    ListTimeline timeline(graph_, costs_, insertion);
    timeline.place(v1, d0);
    timeline.place(v2, d1);  // d1 is idle until 6
    timeline.place(v3, d1);
    timeline.place(v4, d1);
    EXPECT_EQ(timeline.start_ms(v3), insertion ? 0 : 9);
    EXPECT_EQ(timeline.start_ms(v4), insertion ? 1 : 10);
    EXPECT_EQ(timeline.schedule().devices[1],
              one_operator_stages(insertion ? v({3, 4, 2}) : v({2, 3, 4})));
  }
}

TEST_F(ListTimelineTest, ClearRemovesAllOperators) {
  ListTimeline timeline(graph_, costs_);
  timeline.place(v1, d0);
  timeline.clear();
  EXPECT_FALSE(timeline.placed(v1));
  EXPECT_EQ(timeline.latency_ms(), 0);
  EXPECT_EQ(timeline.earliest_start_ms(v2, d1), 0);
}

TEST_F(ListTimelineTest, ListSchedulingKeepsGivenDevicesAndTakesTheEarliestFinishForOthers) {
  std::vector<std::optional<DeviceId>> mapping(4);
  mapping[0] = d1;
  const Schedule schedule = list_schedule(graph_, costs_, v({1, 2, 3, 4}), mapping);
  EXPECT_EQ(schedule.devices[1], one_operator_stages(v({1, 2})));
  EXPECT_EQ(schedule.devices[0], one_operator_stages(v({3, 4})));
}

}  // namespace
}  // namespace hios::scheduler
