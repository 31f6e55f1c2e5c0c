#include "hios/evaluate/limits/more_threads.h"

#include <gtest/gtest.h>

namespace hios {
namespace {

/// Returns a graph of three operators with the signatures a, b, a.
Graph signed_graph() {
  std::vector<Operator> operators(3);
  const char* const signatures[] = {"a", "b", "a"};
  for (std::size_t i = 0; i < operators.size(); ++i) {
    operators[i].name = "v" + std::to_string(i + 1);
    operators[i].signature = signatures[i];
  }
  return Graph("signed", std::move(operators), {});
}

Configuration measured(std::size_t ranks, int threads, double a_ms, double b_ms) {
  Configuration configuration;
  configuration.backend = configuration.kind = "cpu";
  configuration.ranks = ranks;
  configuration.threads = threads;
  configuration.operators = {{"a", {a_ms, a_ms, 1}}, {"b", {b_ms, b_ms, 1}}};
  return configuration;
}

TEST(MoreThreads, AddsUpTheTimesOfOneRank) {
  const Profile profile{{measured(2, 1, 3, 4), measured(1, 2, 2, 2.5)}};
  const auto found = more_threads(signed_graph(), Platform::homogeneous(2, "cpu", 1, 1), profile);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->threads, 2);
  EXPECT_EQ(found->sequential_ms, 2 + 2.5 + 2);
}

TEST(MoreThreads, TakesTheShortestThatHasNoMoreCores) {
  const Profile profile{{measured(4, 1, 3, 4), measured(1, 2, 2, 2.5), measured(1, 4, 1, 1),
                         measured(1, 8, 0.5, 0.5), measured(1, 1, 0.1, 0.1)}};
  const auto found = more_threads(signed_graph(), Platform::homogeneous(4, "cpu", 1, 1), profile);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->threads, 4) << "eight threads are more cores than the plan has";
  EXPECT_EQ(found->sequential_ms, 3);
}

TEST(MoreThreads, ComparesLikeWithLikeOnly) {
  const Platform two = Platform::homogeneous(2, "cpu", 1, 1);
  const Graph graph = signed_graph();
  EXPECT_FALSE(more_threads(graph, two, {{measured(2, 1, 3, 4)}}));
  EXPECT_FALSE(more_threads(graph, two, {{measured(2, 1, 3, 4), measured(2, 2, 2, 2)}}))
      << "two ranks of two threads are four cores";
  EXPECT_FALSE(more_threads(graph, Platform::homogeneous(1, "cpu", 1, 1), {{measured(1, 2, 2, 2)}}))
      << "the plan has one core";
  Configuration other = measured(1, 2, 2, 2);
  other.kind = "cpu-avx2";
  EXPECT_FALSE(more_threads(graph, two, {{other}}));
  other = measured(1, 2, 2, 2);
  other.precision = Precision::kFp16;
  EXPECT_FALSE(more_threads(graph, two, {{other}}));
  other = measured(1, 2, 2, 2);
  other.backend = "reference";
  EXPECT_FALSE(more_threads(graph, two, {{measured(2, 1, 3, 4), other}}));
  other = measured(1, 2, 2, 2);
  other.operators.erase("b");
  EXPECT_FALSE(more_threads(graph, two, {{measured(2, 1, 3, 4), other}})) << "b was not measured";
}

}  // namespace
}  // namespace hios
