#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "hios/base/error.h"
#include "hios/evaluate/simulate.h"
#include "hios/graph/random/random_dag.h"
#include "hios/graph/random/random_dag_text.h"
#include "scheduler/algorithms/baselines/ios.h"
#include "scheduler/bounds/bounds.h"
#include "scheduler/milp/solver.h"
#include "scheduler/registry.h"
#include "support/graphs/dag_generator.h"
#include "support/oracles/brute_force.h"
#include "support/oracles/first_finding.h"
#include "support/oracles/known_bound.h"
#include "support/oracles/slow_simulator.h"
#include "support/sanitized.h"

// Compares every algorithm of the table with one oracle: brute force over all schedules of small
// graphs.

namespace hios::scheduler {
namespace {

using test::CostStyle;
using test::first_finding;
using test::kOracleRounding;
using test::style_by_number;

/// Returns true if the device can run and hold all operators, as algorithms for one device need it.
bool serves_all(const Graph& graph, const Device& device) {
  Bytes bytes = 0;
  for (const Operator& op : graph.operators()) {
    if (!may_run(op, device)) return false;
    bytes += op.memory_bytes + op.parameter_bytes;
  }
  return device.memory_bytes == 0 || bytes <= device.memory_bytes;
}

bool one_serves_all(const Graph& graph, const Platform& platform) {
  const auto devices = platform.devices();
  return std::any_of(devices.begin(), devices.end(),
                     [&](const Device& device) { return serves_all(graph, device); });
}

/// Returns nothing where an algorithm for throughput refuses: where a schedule exists, blocks that
/// form no cycle need not exist. tests/scheduler/pipeline/ judges those refusals.
std::optional<ScheduleResult> run_unless_no_blocks(const Algorithm& algorithm,
                                                   const CostModel& costs, const Options& options,
                                                   const Context& context) {
  try {
    return algorithm.run(Problem(costs), options, context);
  } catch (const InputError&) {
    if (algorithm.objective == Objective::kThroughput) return {};
    throw;
  }
}

/// Checks every algorithm and bound on one problem that has a schedule. Only algorithms for one
/// device may refuse it, where no device suffices.
void check_algorithms(const Graph& graph, const Platform& platform, const CostModel& costs,
                      const test::PlainCosts& plain_costs) {
  const double best = test::brute_force(graph, platform, plain_costs).latency_ms;
  for (const LowerBound& bound : all_bounds(graph, costs)) {
    EXPECT_LE(bound.ms, best * (1 + kOracleRounding)) << bound.name;
  }
  const test::KnownBound known(costs);
  for (const Algorithm& algorithm : built_in().all()) {
    if (algorithm.objective == Objective::kColdStart) continue;  // cold_oracle_test judges those
    if (algorithm.exact && milp::solvers().empty()) continue;    // it refuses all problems
    SCOPED_TRACE(algorithm.name);
    Options options(algorithm.options);
    if (options.has("iterations")) options.set("iterations=200");
    if (!algorithm.many_devices && !one_serves_all(graph, platform)) {
      EXPECT_THROW(algorithm.run(Problem(costs), options, {}), InputError);
      continue;
    }
    if (options.has("generations")) options.set("generations=3");
    const auto made = run_unless_no_blocks(algorithm, costs, options, known.context_for(algorithm));
    if (!made) continue;
    const ScheduleResult& result = *made;
    ASSERT_EQ(first_finding(graph, platform, result.schedule), "");
    const auto slow = test::slow_latency_ms(graph, result.schedule, plain_costs);
    ASSERT_TRUE(slow.has_value());
    EXPECT_DOUBLE_EQ(result.latency_ms, *slow);
    EXPECT_DOUBLE_EQ(result.latency_ms, simulate(graph, result.schedule, costs).latency_ms);
    EXPECT_GE(result.latency_ms, best * (1 - kOracleRounding));
    EXPECT_LE(result.lower_bound_ms, best * (1 + kOracleRounding));
    EXPECT_LE(result.lower_bound_ms, result.latency_ms);
    if (algorithm.many_devices && algorithm.objective == Objective::kLatency &&
        result.outcome == Outcome::kOptimal) {
      EXPECT_LE(result.latency_ms, best * (1 + kOracleRounding)) << "is no optimum";
    }
  }
}

void check_algorithms(const Graph& graph, const Platform& platform) {
  check_algorithms(graph, platform, CostModel::from_graph(graph, platform),
                   test::plain_costs_of(graph, platform));
}

TEST(Oracle, EveryDagOfUpToFiveOperatorsOnTwoDevices) {
  for (std::size_t n = 1; n <= (test::kSanitized ? 4 : 5); ++n) {
    const std::uint64_t edge_sets = std::uint64_t{1} << (n * (n - 1) / 2);
    for (std::uint64_t edge_set = 0; edge_set < edge_sets; ++edge_set) {
      SCOPED_TRACE(std::to_string(n) + " operators, edge set " + std::to_string(edge_set));
      Random random(edge_set, "five");
      const Graph graph = test::dag(n, edge_set, style_by_number(edge_set), random);
      check_algorithms(graph, test::devices(2, static_cast<int>(n)));
      if (::testing::Test::HasFailure()) return;
    }
  }
}

TEST(Oracle, DagsOfSixOperatorsOnTwoDevices) {
  for (std::uint64_t seed = 0; seed < test::tries(200u); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "six");
    const Graph graph = test::dag(6, random.below(1 << 15), style_by_number(seed), random);
    check_algorithms(graph, test::devices(2, 1 + static_cast<int>(seed % 6)));
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(Oracle, DagsOfSevenOperatorsOnThreeDevices) {
  for (std::uint64_t seed = 0; seed < test::tries(20u); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "seven");
    const Graph graph = test::dag(7, random.below(1 << 21), style_by_number(seed), random);
    check_algorithms(graph, test::devices(3, 7));
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(Oracle, DevicesOfDifferentAbilitiesAndStreams) {
  for (std::uint64_t seed = 0; seed < test::tries(200u); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "different");
    CostStyle style = style_by_number(seed);
    style.by_device = true;
    const Graph graph = test::dag(5, random.below(1 << 10), style, random);
    const Platform platform(
        {{"gpu0", "gpu", 0, 2, 0, ""}, {"gpu1", "gpu", 0, 3, 0, ""}, {"gpu2", "gpu", 0, 1, 0, ""}});
    check_algorithms(graph, platform);
    if (::testing::Test::HasFailure()) return;
  }
}

// Networks as users name them. Memory suffices for some placement, also where none is left over:
// every algorithm for several devices must find one.
TEST(Oracle, RandomNetworksOfEveryFamilyOnUnlikeDevices) {
  const char* families[] = {
      "layered",  "forkjoin,width=3", "tree",  "tree,direction=in",  "chain,width=2",
      "cholesky", "independent",      "dense", "stencil,width=2,p=5"};
  const char* devices[] = {"",
                           ",speeds=1:0.4",
                           ",speeds=1:0.5,memory=1",
                           ",memory=1.02,allowed=0.3",
                           ",speeds=2:1,memory=1.05,colocate=0.5",
                           ",speeds=1:0.3,memory=1.2,allowed=0.2,colocate=0.4"};
  std::size_t number = 0;
  for (const std::string family : families) {
    for (const std::string unlike : devices) {
      // The oracle takes a minute for graphs of eight.
      for (std::size_t n = 5; n <= (test::kSanitized ? 5 : 7); ++n) {
        const std::string words = "n=" + std::to_string(n) + ",seed=" + std::to_string(number++) +
                                  ",family=" + family + unlike;
        SCOPED_TRACE(words);
        const RandomProblem made = random_problem(parse_random_dag(words), test::devices(2, 3));
        check_algorithms(made.graph, made.platform);
        if (::testing::Test::HasFailure()) return;
      }
    }
  }
}

TEST(Oracle, MeasuredStagesOfAnyCost) {
  for (std::uint64_t seed = 0; seed < test::tries(200u); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "measured");
    Graph graph = test::dag(5, random.below(1 << 10), {}, random);
    const Platform platform = test::devices(2, 1 + static_cast<int>(seed % 4));
    const Profile profile = test::random_profile(graph, platform, random);
    const CostModel costs = CostModel::from_profile(graph, platform, profile);
    check_algorithms(graph, platform, costs, test::plain_costs_of(costs));
    if (::testing::Test::HasFailure()) return;
  }
}

/// Returns one device of the profile's kind, and one like it with another launch time.
Platform with_another_launch(Profile& profile, int streams, Random& random) {
  Configuration& known = profile.configurations.front();
  known.devices = {known.kind, "other"};
  Configuration other = known;
  other.kind = "other";
  other.launch = {random.uniform(0, 2), 0.1, 30};
  const Platform platform(
      {{"a", known.kind, 0, streams, 0, ""}, {"b", "other", 0, streams, 0, ""}});
  profile.configurations.push_back(std::move(other));
  return platform;
}

TEST(Oracle, DevicesLaunchTheirStages) {
  for (std::uint64_t seed = 0; seed < test::tries(100u); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "launched");
    const std::uint64_t edges = seed % 5 == 4 ? 0 : random.below(1 << 10);
    Graph graph = test::dag(5, edges, {}, random);
    const int streams = 1 + static_cast<int>(seed % 3);
    Platform platform = test::devices(2, streams);
    Profile profile = test::random_profile(graph, platform, random);
    profile.configurations.front().launch = {random.uniform(0.01, 2), 0.1, 30};
    if (seed % 2 == 0) platform = with_another_launch(profile, streams, random);
    const CostModel costs = CostModel::from_profile(graph, platform, profile);
    check_algorithms(graph, platform, costs, test::plain_costs_of(costs));
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(Oracle, ReceiversThatCopy) {
  std::size_t longer = 0;
  for (std::uint64_t seed = 0; seed < test::tries(150u); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "receivers");
    const Graph graph = test::dag(5, random.below(1 << 10), style_by_number(seed), random);
    const Platform plain = test::devices(2, 1 + static_cast<int>(seed % 3));
    std::vector<Device> list(plain.devices().begin(), plain.devices().end());
    const double share = 0.25 + random.uniform();
    for (Device& device : list) {
      device.io_charge = IoCharge{0, seed % 4 == 0 ? 2 * random.uniform() : share};
    }
    const Platform platform = plain.with_devices(std::move(list));
    check_algorithms(graph, platform);
    if (::testing::Test::HasFailure()) return;
    const auto best_ms = [&](const Platform& on) {
      return test::brute_force(graph, on, test::plain_costs_of(graph, on)).latency_ms;
    };
    longer += best_ms(platform) > best_ms(plain) * (1 + kOracleRounding);
  }
  EXPECT_GT(longer, 0u) << "no optimum receives anything";
}

TEST(Oracle, IosIsOptimalOnOneDevice) {
  for (std::uint64_t seed = 0; seed < test::tries(300u); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "ios");
    const Graph graph = test::dag(5, random.below(1 << 10), style_by_number(seed), random);
    const Platform platform = test::devices(1, 5);
    const CostModel costs = CostModel::from_graph(graph, platform);
    IosOptions options;
    options.max_group = 5;
    const IosResult found = schedule_endings(graph, costs, DeviceId(0), options);
    EXPECT_TRUE(found.optimal);
    const double best =
        test::brute_force(graph, platform, test::plain_costs_of(graph, platform)).latency_ms;
    EXPECT_NEAR(simulate(graph, {{found.stages}}, costs).latency_ms, best, best * kOracleRounding);
  }
}

// The oracle itself: its pruning loses nothing, and its answer is a schedule with that latency.
TEST(Oracle, PruningLosesNothing) {
  for (std::uint64_t seed = 0; seed < test::tries(150u); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "pruning");
    CostStyle style = style_by_number(seed);
    style.by_device = seed % 2 == 0;
    Graph graph = test::dag(4, random.below(1 << 6), style, random);
    const Platform platform = test::devices(2, 4);
    const Profile profile = test::random_profile(graph, platform, random);
    const CostModel costs = CostModel::from_profile(graph, platform, profile);
    const test::PlainCosts plain_costs = test::plain_costs_of(costs);
    const auto all_of_them = test::brute_force(graph, platform, plain_costs, test::Pruning::kNone);
    const auto pruned = test::brute_force(graph, platform, plain_costs);
    EXPECT_NEAR(pruned.latency_ms, all_of_them.latency_ms, pruned.latency_ms * kOracleRounding);
    EXPECT_LT(pruned.visited, all_of_them.visited);
    EXPECT_EQ(first_finding(graph, platform, pruned.schedule), "");
    EXPECT_NEAR(*test::slow_latency_ms(graph, pruned.schedule, plain_costs), pruned.latency_ms,
                pruned.latency_ms * kOracleRounding);
  }
}

}  // namespace
}  // namespace hios::scheduler
