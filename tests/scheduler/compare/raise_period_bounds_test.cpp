#include "scheduler/compare/raise_period_bounds.h"

#include <gtest/gtest.h>

#include <vector>

#include "hios/base/error.h"
#include "scheduler/compare/compare.h"
#include "scheduler/milp/solver.h"
#include "scheduler/registry.h"
#include "support/expect_error.h"
#include "support/graphs/dag_generator.h"
#include "support/graphs/small_graph.h"

namespace hios::scheduler {
namespace {

using pipeline::PeriodBound;

/// Three operators of 2 ms each on two devices: the shortest period is 4 ms, the simple bound 3 ms.
class PeriodRows : public testing::Test {
 protected:
  std::vector<Row> rows(std::initializer_list<std::string_view> names) const {
    std::vector<Request> requests;
    for (const std::string_view name : names) {
      const Algorithm& algorithm = built_in().find(name);
      requests.push_back({&algorithm, Options(algorithm.options)});
    }
    return compare(problem_, requests, {});
  }

  Graph graph_ = test::small_graph({2, 2, 2}, {{1, 2, 0}, {2, 3, 0}});
  Platform platform_ = test::devices(2, 1);
  CostModel costs_ = CostModel::from_graph(graph_, platform_);
  Problem problem_{costs_, Objective::kThroughput};
};

TEST_F(PeriodRows, TheLargestBoundIsThatOfAllRowsWithBlocks) {
  std::vector<Row> all = rows({"sequential", "slice-graph"});
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[1].compared().throughput->period_ms, 4);
  EXPECT_EQ(all[1].compared().lower_bound_ms, 3);
  EXPECT_EQ(all[1].outcome, Outcome::kFeasible);
  const auto made = raise_period_bounds(
      all, problem_, std::vector<PeriodBound>{PeriodBound::kSimple, PeriodBound::kDownSets}, {});
  ASSERT_EQ(made.size(), 2u);
  EXPECT_EQ(made[0].name, "simple");
  EXPECT_EQ(made[0].ms, 3);
  EXPECT_EQ(made[1].name, "downsets");
  EXPECT_NEAR(made[1].ms, 4, 1e-6);
  EXPECT_EQ(made[0].largest_ms, 3);
  EXPECT_EQ(made[1].largest_ms, made[1].ms);
  EXPECT_NEAR(all[0].many->lower_bound_ms, 4, 1e-6) << "sequential's period is 6 ms";
  EXPECT_EQ(all[0].many->bound, "downsets");
  EXPECT_EQ(all[0].predicted.lower_bound_ms, 6) << "of the latency, as before";
  EXPECT_NEAR(all[1].predicted.lower_bound_ms, 4, 1e-6);
  EXPECT_EQ(all[1].outcome, Outcome::kOptimal);
  EXPECT_EQ(all[2].algorithm, "copies");
  EXPECT_EQ(all[2].many->bound, "none") << "copies have no blocks";
}

TEST_F(PeriodRows, EndWhereOneProvesThePeriod) {
  std::vector<Row> all = rows({"slice-graph"});
  const auto made = raise_period_bounds(
      all, problem_, std::vector<PeriodBound>{PeriodBound::kDownSets, PeriodBound::kBottleneck},
      {});
  ASSERT_EQ(made.size(), 2u);
  EXPECT_EQ(made[1].ms, 0);
  EXPECT_EQ(made[1].largest_ms, made[0].ms);
  EXPECT_EQ(made[1].remark, "not needed any more");
}

/// Operators of 3, 3, 2, 2 and 2 ms on three devices: the shortest period is 5 ms, and two of 2 ms
/// are a block with a third of the work.
TEST(PeriodRowsAlone, EachIsThatBoundAndNextToItTheLargestSoFar) {
  const Graph graph = test::small_graph({3, 3, 2, 2, 2}, {});
  const Platform platform = test::devices(3, 1);
  const CostModel costs = CostModel::from_graph(graph, platform);
  const Problem problem(costs, Objective::kThroughput);
  const Algorithm& algorithm = built_in().find("slice-graph");
  std::vector<Row> all =
      compare(problem, std::vector<Request>{{&algorithm, Options(algorithm.options)}}, {});
  ASSERT_EQ(all[0].compared().throughput->period_ms, 5);
  all[0].many->lower_bound_ms = 4.5;  // proved by its scheduler
  const auto made = raise_period_bounds(
      all, problem, std::vector<PeriodBound>{PeriodBound::kSimple, PeriodBound::kBottleneck}, {});
  ASSERT_EQ(made.size(), 2u);
  EXPECT_EQ(made[0].ms, 4);
  EXPECT_EQ(made[1].ms, milp::find_solver("any") == nullptr ? 0 : 4) << made[1].remark;
  for (const PeriodRow& row : made) EXPECT_EQ(row.largest_ms, 4.5) << row.name;
  EXPECT_EQ(all[0].many->lower_bound_ms, 4.5);
}

TEST_F(PeriodRows, WithoutTimeOnlyTheSimpleOneIsFound) {
  std::vector<Row> all = rows({"slice-graph"});
  const auto made = raise_period_bounds(
      all, problem_, std::vector<PeriodBound>{PeriodBound::kSimple, PeriodBound::kDownSets},
      Deadline(
          {}, [] { return 0.0; }, 0));
  ASSERT_EQ(made.size(), 2u);
  EXPECT_EQ(made[0].ms, 3);
  EXPECT_EQ(made[1].remark, "no time was left");
  EXPECT_EQ(all[0].outcome, Outcome::kFeasible);
}

TEST_F(PeriodRows, ABoundAboveAPeriodIsAFailure) {
  std::vector<Row> all = rows({"slice-graph", "sequential"});
  all[1].many->lower_bound_ms = 5;  // above slice-graph's 4 ms
  test::expect_error<RunError>(
      [&] {
        raise_period_bounds(all, problem_, std::vector<PeriodBound>{PeriodBound::kSimple}, {});
      },
      {"above the period of slice-graph"});
}

TEST_F(PeriodRows, AreNoneForLatency) {
  const Problem latency(costs_);
  const Algorithm& algorithm = built_in().find("sequential");
  std::vector<Row> all =
      compare(latency, std::vector<Request>{{&algorithm, Options(algorithm.options)}}, {});
  EXPECT_TRUE(raise_period_bounds(all, latency, std::vector<PeriodBound>{PeriodBound::kSimple}, {})
                  .empty());
}

}  // namespace
}  // namespace hios::scheduler
