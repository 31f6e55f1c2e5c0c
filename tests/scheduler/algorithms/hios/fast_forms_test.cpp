#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "hios/graph/random/random_dag.h"
#include "scheduler/algorithms/hios/intra_gpu.h"
#include "scheduler/algorithms/hios/longest_path.h"
#include "scheduler/algorithms/hios/mapping_recording.h"
#include "scheduler/algorithms/list/heft.h"
#include "support/graphs/dag_generator.h"
#include "support/oracles/plain_intra_gpu.h"
#include "support/oracles/plain_longest_path.h"
#include "support/oracles/plain_mapping_recording.h"
#include "support/sanitized.h"

// Alg. 1, 2 and 3 are incremental; the plain forms in tests/support start from scratch. Both must
// decide the same, operator for operator and tie for tie.

namespace hios::scheduler {
namespace {

using test::CostStyle;

CostStyle style_with_devices(std::uint64_t number) {
  CostStyle style = test::style_by_number(number);
  style.by_device = number % 5 == 0;
  return style;
}

/// Checks Alg. 1 and 3 on one problem, and Alg. 2 on their results and on HEFT's.
void compare_forms(const Graph& graph, const CostModel& costs, std::size_t window, bool insertion) {
  const Schedule paths = map_longest_paths(graph, costs, {insertion}).schedule;
  ASSERT_EQ(paths, test::plain_longest_paths(graph, costs, {insertion}));
  EXPECT_EQ(parallelize(graph, costs, paths, window).schedule,
            test::plain_parallelize(graph, costs, paths, window));
  const Schedule recorded = record_mappings(graph, costs).schedule;
  ASSERT_EQ(recorded, test::plain_mappings(graph, costs));
  EXPECT_EQ(parallelize(graph, costs, recorded, window).schedule,
            test::plain_parallelize(graph, costs, recorded, window));
  // With operators in gaps, windows do not begin in a topological order.
  const Schedule inserted = schedule_heft(graph, costs, {}).schedule;
  EXPECT_EQ(parallelize(graph, costs, inserted, window).schedule,
            test::plain_parallelize(graph, costs, inserted, window));
}

TEST(FastForms, SmallGraphsOfAllDensities) {
  for (std::uint64_t seed = 0; seed < test::tries(4000u); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "fast small");
    const std::size_t n = 1 + random.below(24);
    const Graph graph = test::random_graph(n, random.uniform(), style_with_devices(seed), random);
    const std::size_t devices = 1 + random.below(5);
    const Platform platform = test::devices(devices, 1 + static_cast<int>(random.below(5)));
    const CostModel costs = CostModel::from_graph(graph, platform);
    compare_forms(graph, costs, 1 + random.below(6), seed % 7 == 0);
    if (::testing::Test::HasFailure()) return;
  }
}

/// Times that are multiples of a tenth: sums that are equal on paper differ in their last bits.
Graph in_tenths(const Graph& graph) {
  std::vector<Operator> operators(graph.operators().begin(), graph.operators().end());
  std::vector<Edge> edges(graph.edges().begin(), graph.edges().end());
  for (Operator& op : operators) {
    op.time_ms *= 0.1;
    op.utilization = 0.5;
  }
  for (Edge& edge : edges) edge.transfer_ms = *edge.transfer_ms * 0.125;
  return Graph(graph.name(), operators, edges, {StageCostRule::Kind::kOverlap, 0.5});
}

TEST(FastForms, TiesButForRounding) {
  for (std::uint64_t seed = 0; seed < test::tries(3000u); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "fast tenths");
    CostStyle style;
    style.small_integers = true;
    const std::size_t n = 4 + random.below(60);
    const Graph graph = in_tenths(test::random_graph(n, random.uniform(0.02, 0.3), style, random));
    const Platform platform = test::devices(1 + random.below(4), 4);
    compare_forms(graph, CostModel::from_graph(graph, platform), 2 + random.below(4),
                  seed % 7 == 0);
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(FastForms, MiddleGraphs) {
  for (std::uint64_t seed = 0; seed < test::tries(100u); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "fast middle");
    const std::size_t n = 60 + random.below(200);
    const Graph graph =
        test::random_graph(n, random.uniform(0.005, 0.1), style_with_devices(seed), random);
    const Platform platform =
        test::devices(1 + random.below(6), 1 + static_cast<int>(random.below(5)));
    const CostModel costs = CostModel::from_graph(graph, platform);
    compare_forms(graph, costs, 1 + random.below(6), seed % 7 == 0);
    if (::testing::Test::HasFailure()) return;
  }
}

// Merges are estimates then, so Alg. 2 is left out.
TEST(FastForms, ReceiversThatCopy) {
  for (std::uint64_t seed = 0; seed < test::tries(1500u); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "fast copies");
    const std::size_t n = 1 + random.below(seed % 20 == 0 ? 120 : 30);
    const Graph graph =
        test::random_graph(n, random.uniform(0.02, 0.5), style_with_devices(seed), random);
    const Platform platform =
        test::with_receive(test::devices(1 + random.below(4), 1), random.uniform(0, 1.5));
    const CostModel costs = CostModel::from_graph(graph, platform);
    const LongestPathOptions options{.insertion = seed % 7 == 0};
    ASSERT_EQ(map_longest_paths(graph, costs, options).schedule,
              test::plain_longest_paths(graph, costs, options));
    ASSERT_EQ(record_mappings(graph, costs).schedule, test::plain_mappings(graph, costs));
  }
}

/// Two operators whose outputs, of one size each, most of the others read, and some more edges.
Graph with_many_consumers(Random& random) {
  const std::size_t n = 70 + random.below(60);
  std::vector<Operator> operators(n);
  for (std::size_t i = 0; i < n; ++i) {
    operators[i].name = "v" + std::to_string(i);
    operators[i].time_ms = static_cast<double>(random.below(5));
    operators[i].has_time = true;
  }
  std::vector<Edge> edges;
  const auto add = [&](std::size_t from, std::size_t to, double ms) {
    edges.push_back({OpId(from), OpId(to), 8, ms});
  };
  const double first_ms = random.uniform(0, 3), second_ms = static_cast<double>(random.below(4));
  for (std::size_t i = 2; i < n; ++i) {
    if (random.uniform() < 0.98) add(0, i, first_ms);
    if (random.uniform() < 0.95) add(1, i, second_ms);
    if (random.uniform() < 0.05) add(1, i, second_ms);  // twice
    if (i > 2 && random.uniform() < 0.3) add(2 + random.below(i - 2), i, random.uniform(0, 3));
  }
  return Graph("many consumers", operators, edges, {});
}

TEST(FastForms, ManyConsumersThatCopy) {
  for (std::uint64_t seed = 0; seed < test::tries(60u); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "fast consumers");
    const Graph graph = with_many_consumers(random);
    const Platform platform =
        test::with_receive(test::devices(1 + random.below(4), 1), random.uniform(0, 1.5));
    const CostModel costs = CostModel::from_graph(graph, platform);
    ASSERT_EQ(map_longest_paths(graph, costs, {}).schedule,
              test::plain_longest_paths(graph, costs, {}));
    ASSERT_EQ(record_mappings(graph, costs).schedule, test::plain_mappings(graph, costs));
  }
}

TEST(FastForms, ThePapersRandomNetworks) {
  for (std::uint64_t seed = 0; seed < test::tries(60u); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomDag parameters;
    parameters.operators = 200 + 20 * (seed % 11);
    parameters.edges = 2 * parameters.operators;
    parameters.layers = 6 + seed % 60;
    parameters.p = 0.4 + 0.1 * static_cast<double>(seed % 9);
    parameters.seed = seed;
    const Graph graph = random_dag(parameters);
    const Platform platform = test::devices(2 + seed % 8, 8);
    compare_forms(graph, CostModel::from_graph(graph, platform), 4, false);
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(FastForms, MeasuredStagesAndTransfersByPair) {
  for (std::uint64_t seed = 0; seed < test::tries(500u); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "fast measured");
    Graph graph = test::random_graph(4 + random.below(60), 0.12, {}, random);
    const Platform platform = test::devices(2 + random.below(3), 1 + static_cast<int>(seed % 4));
    const Profile profile = test::random_profile(graph, platform, random);
    const CostModel costs = CostModel::from_profile(graph, platform, profile);
    compare_forms(graph, costs, 4, seed % 5 == 0);
    if (::testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace hios::scheduler
