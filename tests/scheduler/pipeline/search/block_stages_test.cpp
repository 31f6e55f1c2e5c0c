#include "scheduler/pipeline/search/block_stages.h"
#include "hios/graph/random/random_dag_text.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "hios/evaluate/blocks.h"
#include "hios/evaluate/validate.h"
#include "hios/graph/random/random_dag.h"
#include "scheduler/pipeline/period_bounds.h"
#include "scheduler/pipeline/search/grouped_search.h"
#include "scheduler/pipeline/slicing/slice_graph.h"
#include "scheduler/structures/numbers.h"
#include "support/graphs/dag_generator.h"
#include "support/sanitized.h"

namespace hios::scheduler::pipeline {
namespace {

Graph overlapping(const std::string& words) { return random_dag(parse_random_dag(words)); }

void expect_valid(const Graph& graph, const CostModel& costs, const Schedule& schedule) {
  EXPECT_TRUE(validate(graph, costs.platform(), schedule, Objective::kThroughput).empty());
}

std::size_t most_groups(const Schedule& schedule) {
  std::size_t most = 0;
  for (const auto& stages : schedule.devices) {
    for (const Stage& stage : stages) most = std::max(most, stage.groups.size());
  }
  return most;
}

TEST(BlockStages, MakeNoBlockMoreExpensive) {
  int cheaper = 0;
  for (int seed = 0; seed < test::tries(20); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Graph graph = overlapping("n=80,layers=8,p=0.2,seed=" + std::to_string(seed));
    const Platform platform = test::devices(3, 4);
    const CostModel costs = CostModel::from_graph(graph, platform);
    ASSERT_TRUE(groups_may_pay(costs));
    const Schedule blocks = slice_graph(graph, costs, {OrderSearch::kGiven}, 1, {}).schedule;
    const Schedule grouped = with_groups(blocks, costs, {});
    expect_valid(graph, costs, grouped);
    EXPECT_LE(most_groups(grouped), 4u);
    const Period before = period_of(graph, blocks, costs), after = period_of(graph, grouped, costs);
    for (std::size_t d = 0; d < platform.size(); ++d) {
      EXPECT_LE(after.blocks[d].ms(), before.blocks[d].ms() + kRounding);
      EXPECT_DOUBLE_EQ(after.blocks[d].send_ms, before.blocks[d].send_ms) << "the same blocks";
    }
    cheaper += after.ms() < before.ms() - kRounding;
    const std::vector<double> shares = shares_in_stages(grouped, costs);
    double sum = 0, stages_ms = 0;
    for (std::size_t v = 0; v < graph.size(); ++v) {
      EXPECT_LE(shares[v], 1 + kRounding);
      sum += shares[v] * costs.operator_ms(OpId(v), DeviceId(0));
    }
    for (const BlockCost& block : after.blocks) stages_ms += block.stages_ms;
    EXPECT_NEAR(sum, stages_ms, 1e-6);
    EXPECT_EQ(with_groups(blocks, costs, Deadline([] { return true; })), blocks)
        << "no time, no change";
  }
  EXPECT_GT(4 * cheaper, 3 * test::tries(20));
}

TEST(BlockStages, OneStreamHasNone) {
  const Graph graph = overlapping("n=40,layers=5");
  const Platform platform = test::devices(2, 1);
  const CostModel costs = CostModel::from_graph(graph, platform);
  EXPECT_FALSE(groups_may_pay(costs));
  const Schedule blocks = slice_graph(graph, costs, {OrderSearch::kGiven}, 1, {}).schedule;
  EXPECT_EQ(with_groups(blocks, costs, {}), blocks);
}

/// Returns the optimum over all devices^n assignments whose blocks form no cycle, each with the
/// best stages by IOS.
double grouped_optimum_ms(const Graph& graph, const CostModel& costs) {
  const std::size_t devices = costs.platform().size();
  std::size_t all = 1;
  for (std::size_t v = 0; v < graph.size(); ++v) all *= devices;
  double best = kInfinity;
  for (std::size_t code = 0; code < all; ++code) {
    std::vector<std::vector<OpId>> blocks(devices);
    std::size_t rest = code;
    for (const OpId op : graph.topological()) {
      blocks[rest % devices].push_back(op);
      rest /= devices;
    }
    Schedule schedule;
    for (const auto& block : blocks) schedule.devices.push_back(one_operator_stages(block));
    if (!cycle_of_blocks(graph, schedule).empty()) continue;
    best = std::min(best, period_of(graph, with_groups(schedule, costs, {}), costs).ms());
  }
  return best;
}

TEST(GroupedSearch, FindsTheOptimumOfNearlyAllSmallProblems) {
  int found = 0;
  constexpr int kProblems = 40;
  for (int seed = 0; seed < kProblems; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const std::size_t devices = 1 + static_cast<std::size_t>(seed) % 3;
    const Graph graph = overlapping("n=6,edges=6,layers=3,p=0.3,seed=" + std::to_string(seed));
    const Platform platform = test::devices(devices, 2);
    const CostModel costs = CostModel::from_graph(graph, platform);
    const double optimum_ms = grouped_optimum_ms(graph, costs);
    const double bound_ms = simple_period_bound(graph, costs).ms;
    EXPECT_LE(bound_ms, optimum_ms + kRounding);
    const auto search = [&] {
      return search_grouped(graph, costs, {.moves = 6000}, bound_ms, 1, {}, {});
    };
    const PartitionSearchResult result = search();
    expect_valid(graph, costs, result.found.schedule);
    const double period_ms = period_of(graph, result.found.schedule, costs).ms();
    EXPECT_GE(period_ms, optimum_ms - kRounding);
    EXPECT_EQ(result.optimal, period_ms <= bound_ms);
    EXPECT_LE(period_ms, 1.15 * optimum_ms);
    found += period_ms <= optimum_ms + kRounding;
    EXPECT_EQ(search().found.schedule, result.found.schedule);
  }
  EXPECT_GE(found, kProblems * 3 / 4);
}

TEST(GroupedSearch, IsShorterThanBlocksOneAtATime) {
  for (int seed = 0; seed < test::tries(5); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Graph graph = overlapping("n=60,layers=6,p=0.1,seed=" + std::to_string(seed));
    const Platform platform = test::devices(3, 4);
    const CostModel costs = CostModel::from_graph(graph, platform);
    const auto period_ms = [&](const PartitionSearchResult& result) {
      return period_of(graph, result.found.schedule, costs).ms();
    };
    EXPECT_LT(period_ms(search_grouped(graph, costs, {.moves = 60'000}, 0, 1, {}, {})),
              0.98 * period_ms(search_partitions(graph, costs, {.moves = 60'000}, 0, 1, {}, {})));
  }
}

}  // namespace
}  // namespace hios::scheduler::pipeline
