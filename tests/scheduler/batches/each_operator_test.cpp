// Rules that divide the inputs operator by operator.
#include "scheduler/batches/each_operator.h"

#include <gtest/gtest.h>

#include <functional>

#include "hios/evaluate/simulate.h"
#include "hios/evaluate/validate.h"
#include "scheduler/batches/divided_case.h"
#include "scheduler/registry.h"
#include "scheduler/structures/numbers.h"
#include "support/sanitized.h"

namespace hios::scheduler {
namespace {

using Rule = std::optional<TimedDivision> (*)(const DivisibleProblem&, const Deadline&);
constexpr Rule kRules[] = {divide_by_times, divide_greedily, divide_by_ranks};

/// A chain of two operators on two devices of a platform; gpu1 takes three times as long.
struct Chain {
  explicit Chain(double transfer_ms)
      : platform(test::devices(2, 1)), graphs(graph(transfer_ms), batch_sizes(4, 4)) {}
  static Graph graph(double transfer_ms) {
    std::vector<Operator> operators(2);
    for (std::size_t v = 0; v < 2; ++v) {
      operators[v].name = v == 0 ? "a" : "b";
      for (std::int64_t size = 1; size <= 4; ++size) {
        operators[v].time_by_size["gpu0"][size] = static_cast<double>(size);
        operators[v].time_by_size["gpu1"][size] = 3.0 * static_cast<double>(size);
      }
    }
    return Graph("chain", std::move(operators), {{OpId(0), OpId(1), 0, transfer_ms}}, {}, 4);
  }
  DivisibleProblem problem() const {
    return {&graphs, &platform,
            [this](const Graph& graph) { return CostModel::from_graph(graph, platform); }};
  }
  Platform platform;
  SizedGraphs graphs;
};

TEST(EachOperator, SharesInputsBySpeed) {
  const Chain chain(0);
  for (const Rule rule : kRules) {
    const auto made = rule(chain.problem(), {});
    ASSERT_TRUE(made);
    // Three inputs on gpu0, one on gpu1, each 3 ms, for both operators.
    EXPECT_DOUBLE_EQ(made->latency_ms, 6);
    const std::vector<Batch> expected = {
        {OpId(0), {0, 3}}, {OpId(0), {3, 4}}, {OpId(1), {0, 3}}, {OpId(1), {3, 4}}};
    EXPECT_EQ(made->division.graph->batching()->batches, expected);
  }
}

// bMET looks at times alone, so that waiting changes nothing in what it chooses.
TEST(EachOperator, OnlyTheRuleOfTimesForgetsWhatWaits) {
  std::vector<Operator> operators(2);
  for (std::size_t v = 0; v < 2; ++v) {
    operators[v].name = v == 0 ? "a" : "b";
    for (std::int64_t size = 1; size <= 2; ++size) {
      operators[v].time_by_size["gpu0"][size] = 2;
      operators[v].time_by_size["gpu1"][size] = 3;
    }
  }
  const SizedGraphs graphs(Graph("two", std::move(operators), {}, {}, 2), batch_sizes(2, 2));
  const Platform platform = test::devices(2, 1);
  const DivisibleProblem problem{&graphs, &platform, [&](const Graph& graph) {
                                   return CostModel::from_graph(graph, platform);
                                 }};
  EXPECT_DOUBLE_EQ(divide_by_times(problem, {})->latency_ms, 4);
  EXPECT_DOUBLE_EQ(divide_greedily(problem, {})->latency_ms, 3);
  EXPECT_DOUBLE_EQ(divide_by_ranks(problem, {})->latency_ms, 3);
}

TEST(EachOperator, AnExpiredDeadlineLeavesTheEvenDivisions) {
  const Chain chain(0);
  for (const Rule rule : kRules) EXPECT_FALSE(rule(chain.problem(), Deadline([] { return true; })));
}

TEST(EachOperator, AreValidAndNotBelowTheOptimum) {
  std::size_t found = 0;
  for (std::uint64_t seed = 0; seed < test::tries(40u); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "each operator");
    const DividedCase one(2 + seed % 2, 2, 1 + seed % 3, random);
    const double least = least_of_all(one);
    for (const Rule rule : kRules) {
      const auto made = rule(one.problem(), {});
      if (!made) continue;
      ++found;
      EXPECT_TRUE(validate(*made->division.graph, one.platform, made->schedule).empty());
      EXPECT_DOUBLE_EQ(
          simulate(*made->division.graph, made->schedule, *made->division.costs).latency_ms,
          made->latency_ms);
      EXPECT_GE(made->latency_ms, least * (1 - kRounding));
    }
  }
  EXPECT_GT(found, 20u);
}

TEST(EachOperator, LabelledOperatorsStayTogether) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "labels");
    const Graph plain = random_sized_graph(5, 4, 2, random);
    std::vector<Operator> operators(plain.operators().begin(), plain.operators().end());
    std::vector<Edge> edges(plain.edges().begin(), plain.edges().end());
    operators[1].colocate = operators[3].colocate = "both";
    const SizedGraphs graphs(Graph("labels", std::move(operators), std::move(edges), {}, 4),
                             batch_sizes(4, 4));
    const Platform platform = test::devices(2, 1);
    const DivisibleProblem problem{&graphs, &platform, [&](const Graph& graph) {
                                     return CostModel::from_graph(graph, platform);
                                   }};
    for (const Rule rule : kRules) {
      const auto made = rule(problem, {});
      if (made) {
        EXPECT_TRUE(validate(*made->division.graph, platform, made->schedule).empty());
      }
    }
  }
}

}  // namespace
}  // namespace hios::scheduler
