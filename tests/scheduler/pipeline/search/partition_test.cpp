#include "scheduler/pipeline/search/partition.h"
#include "hios/graph/random/random_dag_text.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "hios/base/error.h"
#include "hios/evaluate/blocks.h"
#include "hios/evaluate/validate.h"
#include "hios/graph/random/random_dag.h"
#include "scheduler/pipeline/search/partition_moves.h"
#include "scheduler/pipeline/search/partition_search.h"
#include "scheduler/pipeline/slicing/slice_graph.h"
#include "scheduler/structures/numbers.h"
#include "support/graphs/dag_generator.h"
#include "support/graphs/pipeline_cases.h"
#include "support/sanitized.h"

namespace hios::scheduler::pipeline {
namespace {

using test::PipelineCase;

std::vector<OpId> operators_of(const PipelineProblem& problem,
                               const std::vector<Vertex>& vertices) {
  std::vector<OpId> ops;
  for (const Vertex vertex : vertices) {
    const std::vector<OpId>& more = problem.vertices()[vertex].ops;
    ops.insert(ops.end(), more.begin(), more.end());
  }
  return ops;
}

/// Returns each block's cost computed directly from Eq. 3, on its own device.
void expect_priced(const PipelineCase& made, const CostModel& costs, const PipelineProblem& problem,
                   const Partition& partition) {
  for (std::size_t b = 0; b < partition.blocks(); ++b) {
    double nearest = kInfinity;
    for (std::size_t d = 0; d < made.platform.size(); ++d) {
      const double ms = test::plain_block_ms(
          made, costs, operators_of(problem, partition.members(b)), DeviceId(d));
      nearest = std::min(nearest, std::abs(ms - partition.ms(b)));
    }
    EXPECT_LT(nearest, kRounding) << "block " << b;
  }
}

TEST(Partition, FollowsItsMovesAndSwaps) {
  constexpr std::uint64_t kSeed = 21;
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  Random random(kSeed);
  int moves = 0, swaps = 0;
  for (int round = 0; round < 100; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    const PipelineCase made = test::random_case(2 + random.below(9), 2 + random.below(3),
                                                {.limits = random.below(2) == 0}, random);
    const CostModel costs = CostModel::from_graph(made.graph, made.platform);
    const PipelineProblem problem(made.graph, costs);
    const Slicing slicing = Slicer(problem).slice(problem.given_order());
    if (slicing.period_ms == kInfinity) continue;
    Partition partition(problem, problem.given_order(), slicing);
    EXPECT_NEAR(partition.period_ms(), slicing.period_ms, kRounding);
    for (int i = 0; i < 30; ++i) {
      const auto vertex = static_cast<Vertex>(random.below(problem.size()));
      const auto [first, last] = partition.block_range(vertex);
      ASSERT_LE(first, last);
      const std::size_t to = first + random.below(last - first + 1);
      if (partition.has_room(vertex, to) && to != partition.block_of(vertex)) {
        partition.move(vertex, to);
        ++moves;
      }
      swaps += partition.swap_devices(random.below(partition.blocks()),
                                      random.below(partition.blocks()));
      expect_priced(made, costs, problem, partition);
    }
    const std::vector<Vertex> order = partition.order();
    const Slicing as_it_is = partition.slicing(order);
    EXPECT_NEAR(as_it_is.period_ms, partition.period_ms(), kRounding);
    EXPECT_NEAR(period_of(made.graph, schedule_of(problem, order, as_it_is), costs).ms(),
                partition.period_ms(), kRounding);
    Partition other(problem, problem.given_order(), slicing);
    other.restore(partition.layout());
    for (std::size_t b = 0; b < partition.blocks(); ++b) {
      EXPECT_NEAR(other.ms(b), partition.ms(b), kRounding);
    }
    EXPECT_LE(Slicer(problem).slice(order).period_ms, partition.period_ms() + kRounding)
        << "Theorem 4.3";
  }
  EXPECT_GT(moves, 500);
  EXPECT_GT(swaps, 500);
}

/// Checks, where blocks overflow, that costs are never more than in an order.
TEST(Partition, KnowsTheLargestTensorOfABlock) {
  constexpr std::uint64_t kSeed = 22;
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  Random random(kSeed);
  for (int round = 0; round < 60; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    const PipelineCase made =
        test::random_case(2 + random.below(12), 2 + random.below(3), {.overflow = true}, random);
    const CostModel costs = CostModel::from_graph(made.graph, made.platform);
    const PipelineProblem problem(made.graph, costs);
    const Slicing slicing = Slicer(problem).slice(problem.given_order());
    Partition partition(problem, problem.given_order(), slicing);
    PartitionAnnealing annealing(problem, random);
    const double before_ms = partition.period_ms();
    annealing.run(partition, 300, 0, {});
    EXPECT_LE(partition.period_ms(), before_ms + kRounding);
    Partition again = partition;
    again.restore(partition.layout());
    EXPECT_NEAR(again.period_ms(), partition.period_ms(), kRounding);
    for (int i = 0; i < 40; ++i) {
      const auto vertex = static_cast<Vertex>(random.below(problem.size()));
      const auto [first, last] = partition.block_range(vertex);
      const std::size_t to = first + random.below(last - first + 1);
      if (partition.has_room(vertex, to)) partition.move(vertex, to);
      again.restore(partition.layout());
      for (std::size_t b = 0; b < partition.blocks(); ++b) {
        EXPECT_NEAR(again.ms(b), partition.ms(b), kRounding);
      }
    }
    const std::vector<Vertex> order = partition.order();
    const Slicing sliced = partition.slicing(order);
    EXPECT_GE(sliced.period_ms, partition.period_ms() - kRounding);
    EXPECT_NEAR(period_of(made.graph, schedule_of(problem, order, sliced), costs).ms(),
                sliced.period_ms, kRounding);
  }
}

TEST(PartitionSearch, FindsLessThanTenThousandSlicings) {
  for (const int seed : {0, 1, 2, 3}) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const char* const bases[] = {"er", "ba", "ws", "sbm"};
    const Graph graph = random_dag(parse_random_dag(std::string("family=regal,n=50,base=") +
                                                    bases[seed] + ",seed=" + std::to_string(seed)));
    const Platform platform = test::devices(4, 1);
    const CostModel costs = CostModel::from_graph(graph, platform);
    const PartitionSearchResult result =
        search_partitions(graph, costs, {.moves = 500'000}, 0, 1, {}, {});
    const TimedSchedule sliced = slice_graph(graph, costs, {}, 1, {});
    EXPECT_LT(period_of(graph, result.found.schedule, costs).ms(),
              0.995 * period_of(graph, sliced.schedule, costs).ms());
  }
}

TEST(PartitionSearch, FindsTheOptimumOfSmallProblems) {
  constexpr std::uint64_t kSeed = 8;
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  Random random(kSeed);
  for (int round = 0; round < 60; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    const PipelineCase made = test::random_case(1 + random.below(6), 1 + random.below(3),
                                                {.limits = random.below(3) == 0}, random);
    const CostModel costs = CostModel::from_graph(made.graph, made.platform);
    const double optimum_ms = test::plain_optimum_ms(made, costs);
    const auto search = [&] {
      return search_partitions(made.graph, costs, {.moves = 3000}, 0, 1, {}, {});
    };
    if (optimum_ms == kInfinity) {
      EXPECT_THROW(search(), InputError);
      continue;
    }
    const PartitionSearchResult result = search();
    EXPECT_TRUE(
        validate(made.graph, made.platform, result.found.schedule, Objective::kThroughput).empty());
    const double period_ms = period_of(made.graph, result.found.schedule, costs).ms();
    EXPECT_NEAR(period_ms, optimum_ms, kRounding);
    EXPECT_EQ(search().found.schedule, result.found.schedule);
  }
}

TEST(PartitionSearch, IsNeverWorseThanItsStartAlsoWithOverflow) {
  Random random(12);
  for (int round = 0; round < test::tries(5); ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    const PipelineCase made = test::random_case(25, 3, {.overflow = true}, random);
    const CostModel costs = CostModel::from_graph(made.graph, made.platform);
    const auto period_ms = [&](const TimedSchedule& found) {
      return period_of(made.graph, found.schedule, costs).ms();
    };
    const double start_ms = period_ms(slice_graph(made.graph, costs, {OrderSearch::kGiven}, 1, {}));
    const PartitionSearchResult result =
        search_partitions(made.graph, costs, {.moves = 2000}, 0, 1, {}, {});
    EXPECT_LE(period_ms(result.found), start_ms + kRounding);
    EXPECT_FALSE(result.found.timed_out);
    EXPECT_TRUE(search_partitions(made.graph, costs, {}, 0, 1, Deadline([] { return true; }), {})
                    .found.timed_out ||
                result.optimal);
  }
}

// Where moves do not know exact costs, the search begins with all of slice-graph's orders, and
// makes all its moves.
TEST(PartitionSearch, IsNeverWorseThanSliceGraphWithOverflow) {
  constexpr std::uint64_t kSeed = 91;
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  Random random(kSeed);
  for (int round = 0; round < test::tries(8); ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    const PipelineCase made = test::random_case(14, 3, {.overflow = true}, random);
    const CostModel costs = CostModel::from_graph(made.graph, made.platform);
    const auto seed = static_cast<std::uint64_t>(round);
    const TimedSchedule sliced = slice_graph(made.graph, costs, {}, seed, {});
    const PartitionSearchResult found =
        search_partitions(made.graph, costs, {.moves = 20'000}, 0, seed, {}, {});
    EXPECT_LE(period_of(made.graph, found.found.schedule, costs).ms(),
              period_of(made.graph, sliced.schedule, costs).ms() * (1 + 1e-9));
  }
}

}  // namespace
}  // namespace hios::scheduler::pipeline
