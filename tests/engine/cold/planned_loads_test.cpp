#include "engine/cold/planned_loads.h"

#include <gtest/gtest.h>

#include "engine/job/small_job.h"
#include "engine/run/plan/plan.h"
#include "hios/graph/fusion/coarsen.h"
#include "support/oracles/plan_checker.h"

namespace hios {
namespace {

/// The network of small_job.h: stem, left, right (no parameters), other, sum (none), concat (none),
/// some of them fused.
class PlannedLoadsTest : public testing::Test {
 protected:
  PlannedLoadsTest() : model_(job::small_model()), coarse_(coarsen(model_)) {
    for (const OpId op : graph().topological()) {
      schedule_.devices.resize(1);
      schedule_.devices[0].push_back({{{op}}});
      if (graph().op(op).parameter_bytes > 0) loaded_.push_back(op);
    }
    schedule_.weights.emplace();
  }

  const Graph& graph() const { return coarse_.graph; }
  Load load(OpId op, std::size_t device = 0) const { return {op, StoreId(0), DeviceId(device)}; }
  std::vector<AwaitLoad> waits() const {
    const RankPlan plan = plan_rank(coarse_, schedule_, Rank(0));
    EXPECT_EQ(test::findings_in(coarse_, plan), std::vector<std::string>());
    std::vector<AwaitLoad> found;
    for (const Step& step : plan.steps) {
      if (const auto* wait = std::get_if<AwaitLoad>(&step)) found.push_back(*wait);
    }
    return found;
  }

  const Model model_;
  const CoarseGraph coarse_;
  Schedule schedule_;
  std::vector<OpId> loaded_;  // in the order of use
};

TEST_F(PlannedLoadsTest, AStageWaitsForWhatItReads) {
  ASSERT_GE(loaded_.size(), 3);
  schedule_.weights->lanes = {{}};
  for (const OpId op : loaded_) schedule_.weights->lanes[0].push_back(load(op));
  const PlannedLoads planned = plan_loads(graph(), schedule_, Rank(0));
  ASSERT_EQ(planned.lanes.size(), 1);
  for (std::size_t i = 0; i < loaded_.size(); ++i) {
    EXPECT_EQ(planned.lanes[0][i].readers, std::vector{loaded_[i]});
    EXPECT_EQ(planned.lanes[0][i].size_bytes, graph().op(loaded_[i]).parameter_bytes);
  }
  const auto found = waits();
  ASSERT_EQ(found.size(), loaded_.size());
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_EQ(found[i].load, i);
}

// Loads in the reverse order of use: the first stage that reads waits for all, others for nothing.
TEST_F(PlannedLoadsTest, AWaitIsForAllLoadsBeforeIt) {
  schedule_.weights->lanes = {{}};
  for (auto op = loaded_.rbegin(); op != loaded_.rend(); ++op) {
    schedule_.weights->lanes[0].push_back(load(*op));
  }
  const auto found = waits();
  ASSERT_EQ(found.size(), 1);
  EXPECT_EQ(found[0].load, loaded_.size() - 1);
  EXPECT_EQ(schedule_.devices[0][found[0].stage].groups[0][0], loaded_.front());
}

TEST_F(PlannedLoadsTest, WithLoadFirstTheFirstStageWaitsForAllLanes) {
  schedule_.weights->load_first = true;
  for (const OpId op : loaded_) schedule_.weights->lanes.push_back({load(op)});
  const auto found = waits();
  ASSERT_EQ(found.size(), loaded_.size());
  for (std::size_t l = 0; l < found.size(); ++l) {
    EXPECT_EQ(found[l].lane, l);
    EXPECT_EQ(found[l].stage, 0);
  }
}

TEST_F(PlannedLoadsTest, ARankPlansItsOwnLanesOnly) {
  schedule_.devices.emplace_back();
  schedule_.devices[1].push_back(schedule_.devices[0].back());
  schedule_.devices[0].pop_back();
  schedule_.weights->lanes = {{load(loaded_[1], 1)}, {load(loaded_[0])}};
  const PlannedLoads planned = plan_loads(graph(), schedule_, Rank(0));
  ASSERT_EQ(planned.lanes.size(), 1);
  EXPECT_EQ(planned.lanes[0][0].lane, 1);
  EXPECT_EQ(planned.lanes[0][0].index, 0);
  EXPECT_TRUE(plan_loads(graph(), schedule_, Rank(1)).lanes.empty());  // nothing there reads it
}

TEST(PlannedLoads, OneLoadServesAllReadersFromTheFirstStageOn) {
  std::vector<Operator> operators(3);
  for (std::size_t i = 0; i < 3; ++i) {
    operators[i].name = "v" + std::to_string(i);
    operators[i].has_time = true;
    operators[i].parameter_bytes = 8;
    if (i > 0) operators[i].parameters = "shared";
  }
  const Graph graph("three", std::move(operators), {});
  Schedule schedule{{one_operator_stages({OpId(0), OpId(1), OpId(2)})}};
  schedule.weights.emplace().lanes = {
      {{OpId(0), StoreId(0), DeviceId(0)}, {OpId(2), StoreId(0), DeviceId(0)}}};
  const PlannedLoads planned = plan_loads(graph, schedule, Rank(0));
  ASSERT_EQ(planned.lanes.front().size(), 2u);
  EXPECT_EQ(planned.lanes[0][1].readers, (std::vector{OpId(1), OpId(2)}));
  EXPECT_EQ(planned.waits[0].size(), 1u);
  ASSERT_EQ(planned.waits[1].size(), 1u) << "its first reader runs there";
  EXPECT_EQ(planned.waits[1][0].load, 1u);
  EXPECT_TRUE(planned.waits[2].empty());
}

TEST_F(PlannedLoadsTest, AnOperatorThatReadsInPlaceWaitsForNothing) {
  schedule_.weights->in_place = {{loaded_[0], StoreId(0)}};
  schedule_.weights->lanes = {{load(loaded_[1])}};
  const PlannedLoads planned = plan_loads(graph(), schedule_, Rank(0));
  EXPECT_EQ(planned.in_place, std::vector{loaded_[0]});
  const auto found = waits();
  ASSERT_EQ(found.size(), 1);
  EXPECT_EQ(schedule_.devices[0][found[0].stage].groups[0][0], loaded_[1]);
}

TEST_F(PlannedLoadsTest, AnEvictionFollowsItsStage) {
  schedule_.weights->lanes = {{load(loaded_[0])}};
  schedule_.weights->resident = {{loaded_[1], DeviceId(0)}};
  schedule_.weights->evictions = {{loaded_[1], DeviceId(0), loaded_[2]},
                                  {loaded_[0], DeviceId(0), loaded_[0]}};
  const RankPlan plan = plan_rank(coarse_, schedule_, Rank(0));
  EXPECT_EQ(test::findings_in(coarse_, plan), std::vector<std::string>());
  std::vector<std::string> steps;
  for (const Step& step : plan.steps) {
    if (const auto* evict = std::get_if<Evict>(&step)) {
      steps.push_back(graph().op(plan.evictions[evict->eviction].readers.front()).name);
    } else if (std::holds_alternative<Compute>(step)) {
      const OpId op = plan.stages[stage_of(step)].groups[0][0];
      if (graph().op(op).parameter_bytes > 0) steps.push_back("run " + graph().op(op).name);
    }
  }
  const auto name = [&](std::size_t i) { return graph().op(loaded_[i]).name; };
  ASSERT_GE(steps.size(), 5u);
  EXPECT_EQ(std::vector(steps.begin(), steps.begin() + 5),
            (std::vector{"run " + name(0), name(0), "run " + name(1), "run " + name(2), name(1)}));
  EXPECT_FALSE(plan.evictions[0].resident);
  EXPECT_TRUE(plan.evictions[1].resident);
}

TEST_F(PlannedLoadsTest, WithoutWeightsThereAreNone) {
  schedule_.weights.reset();
  EXPECT_TRUE(plan_loads(graph(), schedule_, Rank(0)).lanes.empty());
  EXPECT_TRUE(waits().empty());
}

TEST_F(PlannedLoadsTest, AnUnplannedEntryIsNamedByItsPath) {
  ScheduleFile file;
  file.stores = {{"dram", "", StoreKind::kMemory}, {"ssd", "", StoreKind::kDisk}};
  file.schedule = schedule_;
  Weights& weights = *file.schedule.weights;
  const auto starts = [&](const std::string& words) {
    EXPECT_EQ(unplanned_weights(file).substr(0, words.size()), words);
  };
  weights.lanes = {{load(loaded_[0])}, {load(loaded_[1])}};
  EXPECT_EQ(unplanned_weights(file), "");
  weights.lanes[1][0].from = StoreId(1);
  EXPECT_EQ(unplanned_weights(file), "");
  weights.lanes[1][0].from = DeviceId(1);
  weights.load_first = true;
  weights.evictions = {{loaded_[0], DeviceId(0), loaded_[1]}};
  weights.in_place = {{loaded_[0], StoreId(0)}};
  EXPECT_EQ(unplanned_weights(file), "");
  weights.in_place.push_back({loaded_[1], StoreId(1)});
  starts("in_place: no engine reads parameters in place from a disk");
}

}  // namespace
}  // namespace hios
