#include <gtest/gtest.h>

#include <atomic>
#include <limits>
#include <string>

#include "hios/base/error.h"
#include "scheduler/registry.h"
#include "support/graphs/dag_generator.h"
#include "support/oracles/brute_force.h"
#include "support/oracles/first_finding.h"
#include "support/oracles/known_bound.h"
#include "support/sanitized.h"

// All algorithms keep the constraints: times by device, `allowed`, `colocate`, memory. A schedule
// satisfies validate(), is never better than brute force under the same rules, and equals the
// unconstrained one where the rules do not bind. Otherwise an InputError refuses the problem.

namespace hios::scheduler {
namespace {

using test::first_finding;
using test::kOracleRounding;

struct ConstrainedProblem {
  Graph graph;
  Platform platform;
};

/// Returns the graph with random labels, bytes and allowed devices. Memory is `slack` times the
/// bytes of all operators, shared unevenly; some devices have no limit.
ConstrainedProblem constrained(const Graph& free, std::size_t devices, double slack,
                               Random& random) {
  std::vector<Operator> operators(free.operators().begin(), free.operators().end());
  double all_bytes = 0;
  for (Operator& op : operators) {
    if (random.below(4) == 0)
      op.colocate = std::string(1, static_cast<char>('a' + random.below(3)));
    if (random.below(8) == 0) op.allowed = {"gpu0", "gpu1"};
    op.memory_bytes = random.below(10);
    op.parameter_bytes = random.below(3) == 0 ? random.below(30) : 0;
    all_bytes += static_cast<double>(op.memory_bytes + op.parameter_bytes);
  }
  std::vector<Device> list;
  for (std::size_t d = 0; d < devices; ++d) {
    const double share =
        slack * all_bytes / static_cast<double>(devices) * random.uniform(0.6, 1.4);
    const Bytes limit = random.below(8) == 0 ? 0 : static_cast<Bytes>(share) + 1;
    list.push_back(
        {"gpu" + std::to_string(d), "gpu", 0, 1 + static_cast<int>(random.below(3)), limit, ""});
  }
  return {
      Graph(free.name(), operators, {free.edges().begin(), free.edges().end()}, free.stage_cost()),
      Platform(list)};
}

TEST(Constraints, SchedulesHonourThemOrAreRefused) {
  std::size_t made = 0, refused = 0;
  for (std::uint64_t seed = 0; seed < test::tries(300u); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "constrained");
    test::CostStyle style;
    style.small_integers = seed % 3 == 0;
    const Graph free = test::random_graph(4 + random.below(40), 0.1, style, random);
    const double slack = random.uniform(0.9, 3);
    const ConstrainedProblem problem = constrained(free, 2 + random.below(3), slack, random);
    const CostModel costs = CostModel::from_graph(problem.graph, problem.platform);
    const test::KnownBound known(costs);
    for (const Algorithm& algorithm : built_in().all()) {
      if (algorithm.objective == Objective::kColdStart) continue;  // cold_constraints_test
      if (algorithm.exact) continue;
      SCOPED_TRACE(algorithm.name);
      Options options(algorithm.options);
      if (options.has("max_endings")) options.set("max_endings=300");
      if (options.has("iterations")) options.set("iterations=600");
      if (options.has("generations")) options.set("generations=3");
      Context context = known.context_for(algorithm);
      std::atomic<int> asked = 0;  // several threads ask
      if (seed % 4 == 0) context.deadline = Deadline([&asked] { return ++asked > 5; });
      try {
        const ScheduleResult result = algorithm.run(Problem(costs), options, context);
        EXPECT_EQ(first_finding(problem.graph, problem.platform, result.schedule), "");
        ++made;
      } catch (const InputError& error) {
        EXPECT_NE(std::string(error.what()).find("operator"), std::string::npos) << error.what();
        ++refused;
      }
    }
    if (::testing::Test::HasFailure()) return;
  }
  EXPECT_GT(made, test::tries(300u));
  EXPECT_GT(refused, test::tries(50u));
}

TEST(Constraints, NeverBetterThanBruteForceUnderTheSameRules) {
  std::size_t made = 0, impossible = 0;
  for (std::uint64_t seed = 0; seed < test::tries(250u); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "constrained five");
    const Graph free = test::dag(5, random.below(1 << 10), {}, random);
    const ConstrainedProblem problem = constrained(free, 2, random.uniform(0.9, 2), random);
    const CostModel costs = CostModel::from_graph(problem.graph, problem.platform);
    const auto best = test::brute_force(problem.graph, problem.platform,
                                        test::plain_costs_of(problem.graph, problem.platform));
    const bool possible = best.latency_ms < std::numeric_limits<double>::infinity();
    ASSERT_EQ(possible ? first_finding(problem.graph, problem.platform, best.schedule) : "", "");
    impossible += !possible;
    const test::KnownBound known(costs);
    for (const Algorithm& algorithm : built_in().all()) {
      if (algorithm.objective == Objective::kColdStart) continue;  // cold_constraints_test
      SCOPED_TRACE(algorithm.name);
      try {
        Options options(algorithm.options);
        if (options.has("iterations")) options.set("iterations=1000");
        const ScheduleResult result =
            algorithm.run(Problem(costs), options, known.context_for(algorithm));
        EXPECT_TRUE(possible);
        EXPECT_EQ(first_finding(problem.graph, problem.platform, result.schedule), "");
        EXPECT_GE(result.latency_ms, best.latency_ms * (1 - kOracleRounding));
        ++made;
      } catch (const InputError&) {
        // Packing may miss a placement; a test below checks that it finds most.
      }
    }
    if (::testing::Test::HasFailure()) return;
  }
  EXPECT_GT(made, test::tries(500u));
  EXPECT_GT(impossible, test::tries(10u));
}

/// Returns the graph with labels of one operator each and memory for all operators on each device:
/// no constraint binds.
TEST(Constraints, ThatDoNotBindChangeNothing) {
  for (std::uint64_t seed = 0; seed < test::tries(200u); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "not binding");
    test::CostStyle style;
    style.small_integers = seed % 3 == 0;
    style.by_device = seed % 4 == 0;
    const Graph free = test::random_graph(40, 0.1, style, random);
    std::vector<Operator> operators(free.operators().begin(), free.operators().end());
    for (std::size_t i = 0; i < operators.size(); ++i) {
      operators[i].memory_bytes = 10;
      operators[i].colocate = "label" + std::to_string(i);
    }
    const Graph bound(free.name(), operators, {free.edges().begin(), free.edges().end()},
                      free.stage_cost());
    std::vector<Device> devices;
    for (int d = 0; d < 3; ++d) {
      devices.push_back({"gpu" + std::to_string(d), "gpu", 0, 3, 10 * bound.size(), ""});
    }
    const Platform roomy(devices), endless = test::devices(3, 3);
    const CostModel free_costs = CostModel::from_graph(free, endless);
    const CostModel bound_costs = CostModel::from_graph(bound, roomy);
    const test::KnownBound known_bound(bound_costs), known_free(free_costs);
    for (std::string_view name : {"inter-lp", "hios-lp", "inter-mr", "hios-mr"}) {
      const Algorithm& algorithm = built_in().find(name);
      const Options options(algorithm.options);
      EXPECT_EQ(
          algorithm.run(Problem(bound_costs), options, known_bound.context_for(algorithm)).schedule,
          algorithm.run(Problem(free_costs), options, known_free.context_for(algorithm)).schedule)
          << name;
    }
  }
}

// Where a placement exists, the greedy choice and then packing nearly always find one.
TEST(Constraints, FindAPlacementWhereBruteForceDoes) {
  std::size_t possible = 0, found = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Random random(seed, "tight");
    const Graph free = test::dag(6, random.below(1 << 15), {}, random);
    const ConstrainedProblem problem = constrained(free, 2, random.uniform(1, 1.5), random);
    const CostModel costs = CostModel::from_graph(problem.graph, problem.platform);
    const auto best = test::brute_force(problem.graph, problem.platform,
                                        test::plain_costs_of(problem.graph, problem.platform));
    if (best.latency_ms == std::numeric_limits<double>::infinity()) continue;
    for (std::string_view name : {"inter-lp", "inter-mr"}) {
      ++possible;
      const Algorithm& algorithm = built_in().find(name);
      try {
        algorithm.run(Problem(costs), Options(algorithm.options), {});
        ++found;
      } catch (const InputError&) {
        continue;
      }
    }
  }
  EXPECT_GT(possible, 100u);
  EXPECT_GE(static_cast<double>(found), 0.97 * static_cast<double>(possible));
}

/// Labels of 60 bytes each on two devices of 100: 180 of 200 bytes, and no two labels fit together.
TEST(Constraints, MemoryForAllOperatorsButNotForTheirLabelsIsRefusedInOneLine) {
  std::vector<Operator> operators(6);
  for (std::size_t i = 0; i < operators.size(); ++i) {
    operators[i].name = std::string("v").append(std::to_string(i));
    operators[i].time_ms = 1;
    operators[i].has_time = true;
    operators[i].memory_bytes = 30;
  }
  const std::vector<Edge> edges = {{OpId(0), OpId(3), 0, 0.5}, {OpId(1), OpId(4), 0, 0.5}};
  const Platform platform({{"gpu0", "gpu", 0, 2, 100, ""}, {"gpu1", "gpu", 0, 2, 100, ""}});
  const Graph free("free", operators, edges);
  for (std::size_t i = 0; i < operators.size(); ++i) {
    operators[i].colocate = std::string(1, static_cast<char>('a' + i / 2));
  }
  const Graph labelled("labelled", operators, edges);
  const CostModel free_costs = CostModel::from_graph(free, platform);
  const CostModel costs = CostModel::from_graph(labelled, platform);
  for (const Algorithm& algorithm : built_in().all()) {
    if (algorithm.objective == Objective::kColdStart) continue;  // cold_constraints_test
    if (algorithm.exact) continue;
    SCOPED_TRACE(algorithm.name);
    const Options options(algorithm.options);
    if (algorithm.many_devices) {
      EXPECT_NO_THROW(algorithm.run(Problem(free_costs), options, {}));
    }
    try {
      algorithm.run(Problem(costs), options, {});
      ADD_FAILURE() << "was not refused";
    } catch (const InputError& error) {
      const std::string text = error.what();
      EXPECT_EQ(text.find('\n'), std::string::npos) << text;
      EXPECT_NE(text.find("operator"), std::string::npos) << text;
      if (!algorithm.many_devices) continue;
      EXPECT_NE(text.find("there is no placement that fits labels and memory"), std::string::npos)
          << text;
    }
  }
}

}  // namespace
}  // namespace hios::scheduler
