#include "scheduler/list/priorities.h"

#include <gtest/gtest.h>

#include "support/graphs/dag_generator.h"
#include "support/graphs/small_graph.h"
#include "support/sanitized.h"

namespace hios::scheduler {
namespace {

using test::v;

TEST(Priorities, SumTimesAndTransfersToTheEnd) {
  const Graph graph = test::small_graph({2, 3, 4, 1}, {{1, 2, 5}, {1, 3, 1}, {2, 4, 2}, {3, 4, 3}});
  const Platform two = test::devices(2, 1);
  EXPECT_EQ(upward_ranks(graph, CostModel::from_graph(graph, two)),
            (std::vector<double>{2 + 5 + 3 + 2 + 1, 3 + 2 + 1, 4 + 3 + 1, 1}));
  const Platform one = test::devices(1, 1);  // nothing is sent, but priorities are the graph's
  EXPECT_EQ(upward_ranks(graph, CostModel::from_graph(graph, one)),
            upward_ranks(graph, CostModel::from_graph(graph, two)));
}

TEST(Priorities, TiesKeepTopologicalOrder) {
  // Operators are numbered against the direction of their edges and take no time.
  const Graph graph = test::small_graph({0, 0, 0, 0}, {{4, 3, 0}, {3, 2, 0}, {2, 1, 0}});
  const Platform platform = test::devices(2, 1);
  EXPECT_EQ(priority_order(graph, CostModel::from_graph(graph, platform)), v({4, 3, 2, 1}));
}

TEST(Priorities, OrderIsTopologicalOnRandomGraphs) {
  for (std::uint64_t seed = 0; seed < test::tries(200u); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "priorities");
    test::CostStyle style;
    style.small_integers = seed % 2 == 0;
    const Graph graph = test::random_graph(40, 0.1, style, random);
    const Platform platform = test::devices(2, 1);
    const CostModel costs = CostModel::from_graph(graph, platform);
    const auto position = positions(priority_order(graph, costs));
    for (const Edge& edge : graph.edges()) {
      EXPECT_LT(position[edge.from.index()], position[edge.to.index()]);
    }
  }
}

}  // namespace
}  // namespace hios::scheduler
