// The search over all stages, against brute force.
#include "scheduler/milp/stages/stage_search.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "hios/evaluate/simulate.h"
#include "hios/evaluate/validate.h"
#include "scheduler/milp/stages/possible_stages.h"
#include "scheduler/structures/numbers.h"
#include "support/graphs/dag_generator.h"
#include "support/oracles/brute_force.h"
#include "support/sanitized.h"

namespace hios::scheduler::milp {
namespace {

std::uint64_t random_edges(std::size_t operators, Random& random) {
  return random.below(std::uint64_t{1} << (operators * (operators - 1) / 2));
}

/// Expects that the search finds the optimum, from nothing, and proves it as a start.
void expect_optimum(const Graph& graph, const CostModel& costs) {
  const double least_ms =
      test::brute_force(graph, costs.platform(), test::plain_costs_of(costs)).latency_ms;
  const StageSearchResult found = search_stages(graph, costs, kInfinity, {});
  ASSERT_TRUE(found.complete);
  ASSERT_EQ(found.shorter.has_value(), least_ms < kInfinity);
  if (!found.shorter) return;
  EXPECT_TRUE(validate(graph, costs.platform(), *found.shorter).empty());
  const double latency_ms = simulate(graph, *found.shorter, costs).latency_ms;
  EXPECT_NEAR(latency_ms, least_ms, test::kOracleRounding * (1 + least_ms));
  const StageSearchResult proof = search_stages(graph, costs, latency_ms, {});
  EXPECT_TRUE(proof.complete);
  EXPECT_FALSE(proof.shorter);
}

TEST(StageSearch, FindsAndProvesTheOptimumOfRandomDags) {
  for (std::uint64_t seed = 0; seed < test::tries(150u); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "stage search");
    const std::size_t operators = 1 + seed % 5;
    test::CostStyle style = test::style_by_number(seed);
    style.by_device = seed % 4 == 1;
    const Graph graph = test::dag(operators, random_edges(operators, random), style, random);
    const Platform platform = test::devices(1 + seed % 3, 1 + static_cast<int>(seed / 2 % 3));
    expect_optimum(graph, CostModel::from_graph(graph, platform));
  }
}

TEST(StageSearch, KnowsMeasuredStages) {
  for (std::uint64_t seed = 0; seed < test::tries(60u); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "measured stages");
    Graph graph = test::random_graph(2 + seed % 4, 0.3, {}, random);
    const Platform platform = test::devices(2, 2);
    const Profile profile = test::random_profile(graph, platform, random);
    expect_optimum(graph, CostModel::from_profile(graph, platform, profile));
  }
}

TEST(StageSearch, HonoursLabelsAndMemory) {
  for (std::uint64_t seed = 0; seed < test::tries(80u); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "labels and memory");
    const std::size_t operators = 3 + seed % 3;
    const Graph plain =
        test::dag(operators, random_edges(operators, random), test::style_by_number(seed), random);
    std::vector<Operator> described(plain.operators().begin(), plain.operators().end());
    Bytes all = 0;
    for (Operator& op : described) {
      op.memory_bytes = 1 + random.below(20);
      all += op.memory_bytes;
      if (random.below(3) == 0) op.colocate = "a";
      if (random.below(4) == 0) op.allowed = {"gpu0", "gpu2"};
    }
    const Graph graph("limited", std::move(described), {plain.edges().begin(), plain.edges().end()},
                      plain.stage_cost());
    std::vector<Device> devices;
    const Platform alike = test::devices(3, 2);
    for (Device device : alike.devices()) {
      device.memory_bytes = all / 3 + random.below(all);
      devices.push_back(std::move(device));
    }
    const Platform platform(std::move(devices));
    expect_optimum(graph, CostModel::from_graph(graph, platform));
  }
}

TEST(StageSearch, EndsAtItsLimitsWithoutAProof) {
  Random random(7, "limits");
  const Graph graph = test::random_graph(8, 0.2, {}, random);
  const Platform platform = test::devices(2, 2);
  const CostModel costs = CostModel::from_graph(graph, platform);
  EXPECT_FALSE(search_stages(graph, costs, kInfinity, {.nodes = 5}).complete);
  const Deadline over([] { return true; });
  EXPECT_FALSE(search_stages(graph, costs, kInfinity, {.deadline = over}).complete);
}

TEST(StageSearch, RefusesWhatIsTooLarge) {
  Random random(8, "size");
  const Platform platform = test::devices(2, 8);
  const Graph larger = test::random_graph(kMostSearched + 1, 0.3, {}, random);
  EXPECT_FALSE(
      search_stages(larger, CostModel::from_graph(larger, platform), kInfinity, {}).complete);
  const Graph wide = test::dag(kMostSearched, 0, {}, random);
  EXPECT_FALSE(possible_stages(wide, CostModel::from_graph(wide, platform)));
}

// Groups that need each other by way of an operator outside can never run.
TEST(PossibleStages, AreIndependentAndWorthIt) {
  std::vector<Operator> operators(3);
  for (std::size_t v = 0; v < 3; ++v) {
    operators[v].name = std::string(1, static_cast<char>('a' + v));
    operators[v].time_ms = 1;
    operators[v].has_time = true;
    operators[v].utilization = 0.1;
  }
  const Edge chain[] = {{OpId(0), OpId(1), 0, 0.0}, {OpId(1), OpId(2), 0, 0.0}};
  const StageCostRule overlap{StageCostRule::Kind::kOverlap, 0.5};
  const Platform platform = test::devices(1, 2);
  const Graph row("row", operators, {chain[0], chain[1]}, overlap);
  EXPECT_EQ(possible_stages(row, CostModel::from_graph(row, platform))->size(), 3u);
  const Graph pair("pair", operators, {chain[0]}, overlap);
  const auto stages = possible_stages(pair, CostModel::from_graph(pair, platform));
  std::vector<OpSet> sets;
  for (const PossibleStage& possible : *stages) sets.push_back(possible.operators);
  EXPECT_EQ(sets, (std::vector<OpSet>{1, 2, 4, 6, 5, 7}));
}

}  // namespace
}  // namespace hios::scheduler::milp
