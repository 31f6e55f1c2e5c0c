// Messages that matter: links that carry one tensor at a time, ranges of tensors, receivers that
// copy. Compares every algorithm with brute force over all schedules and orders of transfers, and
// tests the search of `best`.

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

#include "hios/base/error.h"
#include "hios/evaluate/simulate.h"
#include "hios/evaluate/validate.h"
#include "hios/graph/random/random_dag.h"
#include "hios/graph/random/random_dag_text.h"
#include "scheduler/best/moves/moves.h"
#include "scheduler/best/starts/starts.h"
#include "scheduler/best/state/message_timing.h"
#include "scheduler/best/state/timing.h"
#include "scheduler/milp/solver.h"
#include "scheduler/registry.h"
#include "support/graphs/dag_generator.h"
#include "support/oracles/brute_force.h"
#include "support/oracles/contended_brute_force.h"
#include "support/oracles/first_finding.h"
#include "support/sanitized.h"

namespace hios::scheduler {
namespace {

using test::first_finding;
using test::kOracleRounding;
using test::style_by_number;

constexpr hios::Contention kContended[] = {hios::Contention::kLink, hios::Contention::kPort};

ScheduleResult run_with_iterations(const Algorithm& algorithm, const CostModel& costs,
                                   const char* iterations) {
  Options options(algorithm.options);
  if (options.has("iterations")) options.set(std::string("iterations=") + iterations);
  if (options.has("generations")) options.set("generations=3");
  return algorithm.run(Problem(costs), options, {});
}

/// Checks every algorithm and bound. Only algorithms for one device may refuse the problem.
void check_contended(const CostModel& costs, const char* iterations = "1000") {
  const Graph& graph = costs.graph();
  const Platform& platform = costs.platform();
  const test::PlainCosts plain_costs = test::plain_costs_of(costs);
  const test::ContendedOptimum optimum =
      test::contended_brute_force(graph, platform, plain_costs, platform.contention());
  for (const LowerBound& bound : all_bounds(graph, costs)) {
    EXPECT_LE(bound.ms, optimum.any_order_ms * (1 + kOracleRounding)) << bound.name;
  }
  for (const Algorithm& algorithm : built_in().all()) {
    if (algorithm.objective == Objective::kColdStart) continue;  // cold_oracle_test judges those
    if (algorithm.exact && milp::solvers().empty()) continue;    // it refuses all problems
    SCOPED_TRACE(algorithm.name);
    ScheduleResult result;
    try {
      result = run_with_iterations(algorithm, costs, iterations);
    } catch (const InputError&) {
      if (!algorithm.many_devices) continue;
      throw;
    }
    ASSERT_EQ(first_finding(graph, platform, result.schedule), "");
    const auto slow =
        test::slow_latency_ms(graph, result.schedule, plain_costs, platform.contention());
    ASSERT_TRUE(slow.has_value());
    EXPECT_DOUBLE_EQ(result.latency_ms, *slow);
    EXPECT_GE(result.latency_ms, optimum.any_order_ms * (1 - kOracleRounding));
    EXPECT_LE(result.lower_bound_ms, optimum.any_order_ms * (1 + kOracleRounding));
    if (algorithm.name == "milp" && platform.device(DeviceId(0)).streams == 1 &&
        !costs.sends_ranges() && !costs.charges_receivers()) {
      EXPECT_EQ(result.outcome, Outcome::kOptimal);
    }
    if (algorithm.name == "best") {
      EXPECT_LE(result.latency_ms, optimum.any_order_ms * 1.01);
    }
  }
}

void check_contended(const Graph& graph, const Platform& platform) {
  check_contended(CostModel::from_graph(graph, platform));
}

TEST(Contended, EveryDagOfUpToFourOperatorsOnTwoDevices) {
  for (std::size_t n = 1; n <= 4; ++n) {
    const std::uint64_t edge_sets = std::uint64_t{1} << (n * (n - 1) / 2);
    for (std::uint64_t edge_set = 0; edge_set < edge_sets; ++edge_set) {
      SCOPED_TRACE(std::to_string(n) + " operators, edge set " + std::to_string(edge_set));
      Random random(edge_set, "four");
      const Graph graph = test::dag(n, edge_set, style_by_number(edge_set), random);
      check_contended(
          graph, test::devices(2, 1 + static_cast<int>(edge_set % 3), kContended[edge_set % 2]));
      if (::testing::Test::HasFailure()) return;
    }
  }
}

/// Returns the graph with bytes for transfer times: every operator reads a range of a tensor.
Graph with_ranges(const Graph& graph, Random& random) {
  std::vector<Edge> edges(graph.edges().begin(), graph.edges().end());
  for (Edge& edge : edges) {
    const Bytes begin = 1000 * random.below(4);
    edge.range = ByteRange{begin, begin + 1000 * (1 + random.below(4))};
    edge.size_bytes = edge.range->size();
    edge.transfer_ms.reset();
  }
  return Graph(graph.name(), {graph.operators().begin(), graph.operators().end()}, std::move(edges),
               graph.stage_cost());
}

/// Returns the devices with links of 2 MB/s, which receive at so much of a transfer's time.
Platform with_slow_links(const Platform& platform, std::optional<double> receive = {}) {
  std::vector<Device> devices(platform.devices().begin(), platform.devices().end());
  for (Device& device : devices) {
    if (receive) device.io_charge = IoCharge{0, *receive};
  }
  return Platform(std::move(devices), {}, hios::Link{0.1, 0.002}, platform.traffic());
}

/// Messages with all bytes from the first to the last that a device reads, and their copies.
TEST(Contended, RangesOfTensors) {
  const std::optional<double> copies = 0.6;
  for (std::uint64_t seed = 0; seed < test::tries(150u); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "ranges");
    const Graph graph =
        with_ranges(test::dag(4, random.below(1 << 6), style_by_number(seed), random), random);
    const auto contention = static_cast<hios::Contention>(seed % 3);
    const Platform platform =
        test::devices(2 + seed % 2, 1 + static_cast<int>(seed / 2 % 2), contention);
    check_contended(graph, with_slow_links(platform, seed % 2 == 0 ? std::nullopt : copies));
    if (::testing::Test::HasFailure()) return;
  }
}

/// Returns the graph with transfer times for each pair of devices instead of one.
Graph with_times_by_pair(const Graph& graph, std::size_t devices, Random& random) {
  std::vector<Edge> edges(graph.edges().begin(), graph.edges().end());
  for (Edge& edge : edges) {
    PairTimes times;
    for (std::size_t from = 0; from < devices; ++from) {
      for (std::size_t to = 0; to < devices; ++to) {
        if (from == to) continue;
        times[std::string("gpu").append(std::to_string(from))]
             [std::string("gpu").append(std::to_string(to))] = random.uniform(0, 2);
      }
    }
    edge.transfer_ms.reset();
    edge.transfer_by_pair = std::make_shared<const PairTimes>(std::move(times));
  }
  return Graph(graph.name(), {graph.operators().begin(), graph.operators().end()}, std::move(edges),
               graph.stage_cost());
}

TEST(Contended, DifferentDevicesAndPairs) {
  for (std::uint64_t seed = 0; seed < test::tries(60u); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "unlike");
    test::CostStyle style = style_by_number(seed);
    style.by_device = true;
    const Graph graph =
        with_times_by_pair(test::dag(4, random.below(1 << 6), style, random), 3, random);
    check_contended(graph, test::devices(3, 2, kContended[seed % 2]));
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(Contended, DagsOfFourOperatorsOnThreeDevices) {
  for (std::uint64_t seed = 0; seed < test::tries(40u); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "three devices");
    const Graph graph = test::dag(4, random.below(1 << 6), style_by_number(seed), random);
    for (const hios::Contention contention : kContended)
      check_contended(graph, test::devices(3, 2, contention));
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(Contended, DagsOfFiveOperatorsOnTwoDevices) {
  for (std::uint64_t seed = 0; seed < test::tries(200u); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "five, contended");
    const Graph graph = test::dag(5, random.below(1 << 10), style_by_number(seed), random);
    check_contended(graph,
                    test::devices(2, 1 + static_cast<int>(seed % 2), hios::Contention::kPort));
    if (::testing::Test::HasFailure()) return;
  }
}

/// A tensor occupies its link while it travels, not while it launches its device's next stage.
TEST(Contended, LaunchesDoNotOccupyLinks) {
  for (std::uint64_t seed = 0; seed < test::tries(40u); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "launched, contended");
    Graph graph = test::dag(4, random.below(1 << 6), {}, random);
    const Platform platform =
        test::devices(2, 1 + static_cast<int>(seed % 2), kContended[seed / 2 % 2]);
    Profile profile = test::random_profile(graph, platform, random);
    profile.configurations.front().launch = {random.uniform(0.1, 2), 0, 30};
    check_contended(CostModel::from_profile(graph, platform, profile), "20000");
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(Contended, BestIsNeverWorseThanItsStarts) {
  std::size_t better = 0, problems = 0;
  for (const char* words : {"n=40,edges=100,layers=6,p=1.5", "n=30,family=forkjoin,p=2",
                            "n=30,family=dense,density=0.2,p=1", "n=40,family=chain,width=3,p=1"}) {
    for (const hios::Contention contention : kContended) {
      for (const int count : {2, 4}) {
        SCOPED_TRACE(std::string(words) + " " + std::string(to_string(contention)));
        if (test::kSanitized && count > 2) continue;
        ++problems;
        const Graph graph = random_dag(parse_random_dag(words));
        const Platform platform = test::devices(static_cast<std::size_t>(count), 4, contention);
        const CostModel costs = CostModel::from_graph(graph, platform);
        double others = std::numeric_limits<double>::infinity();
        for (const Algorithm& algorithm : built_in().all()) {
          if (algorithm.name == "met") break;  // the search starts from those before it
          others = std::min(others, run_with_iterations(algorithm, costs, "0").latency_ms);
        }
        const ScheduleResult best = run_with_iterations(built_in().find("best"), costs, "1500");
        EXPECT_EQ(first_finding(graph, platform, best.schedule), "");
        EXPECT_EQ(best.latency_ms, simulate(graph, best.schedule, costs).latency_ms);
        EXPECT_LE(best.latency_ms, others);
        better += best.latency_ms < others * 0.99;
      }
    }
  }
  EXPECT_GT(better, problems / 2);
}

TEST(Contended, TheTableNamesTheContentionOfAlgorithms) {
  EXPECT_EQ(built_in().find("best").contention, kOrdersTransfers);
  EXPECT_EQ(built_in().find("heft").contention, kIgnoresContention);
  EXPECT_EQ(built_in().find("ios").contention, kMeetsNoContention);
}

/// The numbers of moves that were within their limit and kept, and of those that were not.
struct FollowedMoves {
  std::size_t kept = 0, refused = 0;
};

/// Makes moves of the search, keeps some and undoes some: each decision and latency equals
/// simulate()'s. `exact_sums`: a limit may be the latency.
void follow_moves(const CostModel& costs, bool exact_sums, Random& random, FollowedMoves& moved) {
  const Graph& graph = costs.graph();
  const best::SearchProblem problem(costs);
  best::StageCosts stage_costs(problem);
  best::Arrangement arrangement(problem, stage_costs,
                                test::random_schedule(graph, costs.platform(), random));
  best::Timing timing(arrangement);
  best::Moves moves(arrangement, timing, random);
  const auto simulated = [&] {
    try {
      return simulate(graph, best::schedule_with_order(arrangement), costs).latency_ms;
    } catch (const std::logic_error&) {
      return std::numeric_limits<double>::infinity();  // transfers deadlock
    }
  };
  EXPECT_NEAR(timing.latency_ms(), simulated(), 1e-9);
  for (int i = 0; i < 200; ++i) {
    const double before = timing.latency_ms();
    if (!moves.propose()) {
      arrangement.undo();
      continue;
    }
    const double now = simulated();
    const bool is_limit = exact_sums && i % 2 == 0 && std::isfinite(now);
    const double limit = is_limit ? now : before * random.uniform(0.9, 1.3);
    if (!is_limit && std::abs(now - limit) < 1e-9) {
      arrangement.undo();
      continue;
    }
    const bool within = timing.update(limit);
    ASSERT_EQ(within, now <= limit);
    if (within) {
      ASSERT_NEAR(timing.latency_ms(), now, 1e-9);
    }
    if (within && random.below(2) == 0) {
      timing.keep();
      arrangement.keep();
      ++moved.kept;
      continue;
    }
    if (within) timing.undo();
    arrangement.undo();
    moved.refused += !within;
    ASSERT_EQ(timing.latency_ms(), before);
  }
}

TEST(Contended, TimingFollowsMovesAsSimulateHasThem) {
  FollowedMoves moved;
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "contended moves");
    test::CostStyle style;
    style.small_integers = seed % 3 == 0;
    style.overlap = !style.small_integers;
    const Graph graph = test::random_graph(4 + random.below(20), 0.2, style, random);
    const Platform platform = test::devices(2 + random.below(3), 3, kContended[seed % 2]);
    follow_moves(CostModel::from_graph(graph, platform), style.small_integers, random, moved);
  }
  EXPECT_GT(moved.kept, 500u);
  EXPECT_GT(moved.refused, 500u);
}

/// The same for messages with ranges, and for receivers that copy, without contention.
TEST(Contended, TimingFollowsMovesOfRangesAndOfCopies) {
  FollowedMoves moved;
  std::size_t matter = 0;
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "moves of ranges");
    const Graph plain = test::random_graph(4 + random.below(20), 0.2, {}, random);
    const Graph graph = seed % 3 == 0 ? plain : with_ranges(plain, random);
    const Platform platform = with_slow_links(test::devices(2 + random.below(3), 3),
                                              seed % 3 == 1 ? std::nullopt : std::optional(0.4));
    const CostModel costs = CostModel::from_graph(graph, platform);
    matter += costs.messages_matter();
    follow_moves(costs, false, random, moved);
  }
  EXPECT_GT(matter, 20u);
  EXPECT_GT(moved.kept, 500u);
  EXPECT_GT(moved.refused, 500u);
}

}  // namespace
}  // namespace hios::scheduler
