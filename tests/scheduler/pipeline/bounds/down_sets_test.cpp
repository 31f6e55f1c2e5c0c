#include "scheduler/pipeline/bounds/down_sets.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

#include "scheduler/pipeline/bounds/block_scan.h"
#include "scheduler/pipeline/bounds/chains.h"
#include "scheduler/pipeline/slicing/slicing.h"
#include "support/graphs/dag_generator.h"
#include "support/graphs/pipeline_cases.h"

namespace hios::scheduler::pipeline {
namespace {

constexpr std::size_t kMany = 1'000'000;

/// Returns the number of down-sets, by trying all subsets of the vertices.
std::size_t plain_count(const PipelineProblem& problem) {
  std::size_t count = 0;
  for (std::size_t set = 0; set < (std::size_t{1} << problem.size()); ++set) {
    bool closed = true;
    for (Vertex v = 0; v < problem.size(); ++v) {
      if (((set >> v) & 1) == 0) continue;
      for (const Vertex each : problem.vertices()[v].predecessors)
        closed = closed && ((set >> each) & 1);
    }
    count += closed;
  }
  return count;
}

TEST(DownSets, AreAllThatThereAre) {
  constexpr std::uint64_t kSeed = 41;
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  Random random(kSeed);
  for (int round = 0; round < 40; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    const Graph graph = test::random_graph(1 + random.below(10), random.uniform(), {}, random);
    const Platform platform = test::devices(2, 1);
    const CostModel costs = CostModel::from_graph(graph, platform);
    const PipelineProblem problem(graph, costs);
    const auto sets = DownSets::all(problem, kMany, {});
    ASSERT_TRUE(sets);
    EXPECT_EQ(sets->size(), plain_count(problem));
    EXPECT_FALSE(DownSets::all(problem, sets->size() - 1, {}));
    for (DownSets::Id id = 0; id < sets->size(); ++id) {
      std::set<DownSets::Id> different;
      for (const auto& step : sets->steps(id)) {
        EXPECT_GT(step.to, id);
        different.insert(step.to);
      }
      EXPECT_EQ(different.size(), sets->steps(id).size());
      EXPECT_EQ(sets->steps(id).empty(), id == sets->full());
    }
  }
}

TEST(DownSets, StopOnRequest) {
  Random random(1);
  const Graph graph = test::random_graph(60, 0.01, {}, random);
  const Platform platform = test::devices(2, 1);
  const CostModel costs = CostModel::from_graph(graph, platform);
  EXPECT_FALSE(DownSets::all(PipelineProblem(graph, costs), kMany, Deadline([] { return true; })));
}

// 40 operators without edges have 2^40 down-sets, which their number at one depth says.
TEST(DownSets, WideGraphsAreNotListed) {
  Random random(1);
  const Graph graph = test::random_graph(40, 0, {}, random);
  const Platform platform = test::devices(2, 1);
  const CostModel costs = CostModel::from_graph(graph, platform);
  int asked = 0;
  const Deadline never([&asked] { return ++asked < 0; });
  EXPECT_FALSE(DownSets::all(PipelineProblem(graph, costs), 100'000, never));
  EXPECT_EQ(asked, 0);
}

TEST(BlockScan, FollowsTheDefinitionOfCosts) {
  constexpr std::uint64_t kSeed = 42;
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  Random random(kSeed);
  for (int round = 0; round < 60; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    const bool overflow = random.below(2) == 0;
    const test::PipelineCase made =
        test::random_case(1 + random.below(8), 2, {.overflow = overflow}, random);
    const CostModel costs = CostModel::from_graph(made.graph, made.platform);
    const PipelineProblem problem(made.graph, costs);
    const LeastCosts least(problem);
    const std::size_t device_class = random.below(problem.classes().size());
    const DeviceId device = problem.classes()[device_class].devices.front();
    BlockScan scan(least, device_class);
    std::vector<OpId> block;
    std::vector<std::pair<Vertex, BlockScan::Sums>> added;
    for (const Vertex v : problem.given_order()) {
      if (random.below(2) == 0) continue;
      added.emplace_back(v, scan.add(v));
      block.push_back(problem.vertices()[v].ops.front());
      const double plain_ms = test::plain_block_ms(made, costs, block, device);
      if (plain_ms < std::numeric_limits<double>::infinity()) {
        EXPECT_LE(scan.ms(), plain_ms + 1e-9);
        EXPECT_TRUE(overflow || std::abs(scan.ms() - plain_ms) <= 1e-9) << scan.ms();
      }
      EXPECT_LE(scan.least_ms(), scan.ms() + 1e-9);
    }
    for (std::size_t i = added.size(); i-- > 0;) scan.remove(added[i].first, added[i].second);
    EXPECT_EQ(scan.ms(), 0);
  }
}

TEST(Chains, GiveBlocksThatCostTheBound) {
  constexpr std::uint64_t kSeed = 43;
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  Random random(kSeed);
  int found = 0;
  for (int round = 0; round < 60; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    const test::PipelineCase made =
        test::random_case(2 + random.below(12), 2 + random.below(3), {.limits = true}, random);
    const CostModel costs = CostModel::from_graph(made.graph, made.platform);
    const PipelineProblem problem(made.graph, costs);
    const LeastCosts least(problem);
    const auto sets = DownSets::all(problem, kMany, {});
    ASSERT_TRUE(sets);
    const ChainResult result = cheapest_chain(least, *sets, 0);
    EXPECT_TRUE(result.finished);
    const double given_ms = Slicer(problem).slice(problem.given_order()).period_ms;
    EXPECT_LE(result.bound_ms, given_ms + 1e-9);
    if (!result.blocks) continue;
    ++found;
    const auto& [order, slicing] = *result.blocks;
    const Schedule schedule = schedule_of(problem, order, slicing);
    EXPECT_NEAR(period_of(made.graph, schedule, costs).ms(), result.bound_ms, 1e-9);
    EXPECT_TRUE(cycle_of_blocks(made.graph, schedule).empty());
    // Nothing is below it.
    const ChainResult below = cheapest_chain(least, *sets, 0, result.bound_ms);
    EXPECT_TRUE(below.finished);
    EXPECT_FALSE(below.blocks);
    EXPECT_EQ(below.bound_ms, result.bound_ms);
    const ChainResult stopped = cheapest_chain(least, *sets, result.bound_ms / 2,
                                               result.bound_ms * 2, Deadline([] { return true; }));
    EXPECT_LE(stopped.bound_ms, result.bound_ms + 1e-9);
  }
  EXPECT_GT(found, 30);
}

}  // namespace
}  // namespace hios::scheduler::pipeline
