// Schedulers for cold starts keep times by device, `allowed`, `colocate` and memory limits, as
// tests/scheduler/constraints_test.cpp tests it of all others: they refuse a problem by an
// InputError, or their schedule satisfies validate() and is not below the bound.

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "hios/base/error.h"
#include "hios/base/numbers/random.h"
#include "hios/evaluate/validate.h"
#include "scheduler/cold/cold_start.h"
#include "scheduler/cold/cold_start_bound.h"
#include "scheduler/milp/solver.h"
#include "scheduler/registry.h"
#include "support/graphs/cold_cases.h"
#include "support/graphs/dag_generator.h"

namespace hios::scheduler {
namespace {

constexpr double kRoundingOfColdBounds = 1e-6;

struct ColdConstraints {
  Graph graph;
  Platform platform;
};

/// Returns the graph with labels, allowed devices and times in place. `unlike`: gpu1 takes twice as
/// long as the others.
Graph constrained_graph(const Graph& free, bool unlike, Random& random) {
  std::vector<Operator> operators(free.operators().begin(), free.operators().end());
  for (Operator& op : operators) {
    if (random.below(3) == 0) {
      op.colocate = std::string(1, static_cast<char>('a' + random.below(2)));
    }
    if (random.below(5) == 0) op.allowed = {random.below(2) == 0 ? "gpu0" : "gpu1"};
    if (unlike) op.time_by_device["gpu1"] = 2 * op.time_ms;
    op.in_place_by_device.clear();
    op.in_place_ms = 3 * op.time_ms;
  }
  return Graph(free.name(), std::move(operators), {free.edges().begin(), free.edges().end()},
               free.stage_cost());
}

ColdConstraints cold_constraints(std::uint64_t seed) {
  Random random(seed, "cold constraints");
  const Graph bare = test::random_graph(2 + random.below(6), 0.3, {}, random);
  Graph graph =
      constrained_graph(test::with_parameters(bare, false, random), seed % 4 == 1, random);
  double all_bytes = 0;
  for (const Operator& op : graph.operators()) {
    all_bytes += static_cast<double>(op.memory_bytes + op.parameter_bytes);
  }
  const Platform free = test::random_topology(2, 1, false, random);
  std::vector<Device> devices(free.devices().begin(), free.devices().end());
  for (Device& device : devices) {
    const double share = random.uniform(0.5, 1.5);
    device.memory_bytes = 1 + static_cast<Bytes>(share * all_bytes);
  }
  return {std::move(graph), free.with_devices(std::move(devices))};
}

/// Returns the schedulers for cold starts, and `heft` for those that complete another schedule.
/// Those by linear programs are among them where the build has a solver.
std::vector<const Algorithm*> cold_rows() {
  std::vector<const Algorithm*> rows;
  for (const Algorithm& algorithm : built_in().all()) {
    const bool cold = algorithm.objective == Objective::kColdStart;
    if (!cold && algorithm.name != "best" && algorithm.name != "heft") continue;
    if (algorithm.exact && milp::solvers().empty()) continue;
    rows.push_back(&algorithm);
  }
  return rows;
}

Options small_options(const Algorithm& algorithm) {
  Options options(algorithm.options);
  if (options.has("iterations")) options.set("iterations=30");
  if (options.has("nodes")) options.set("nodes=5");
  if (options.has("q")) options.set("q=2");
  if (options.has("most_operators")) options.set("most_operators=3");
  return options;
}

TEST(ColdConstraints, SchedulesKeepThemOrAreRefused) {
  std::size_t made = 0, refused = 0;
  for (std::uint64_t seed = 0; seed < 16; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const ColdConstraints here = cold_constraints(seed);
    const CostModel costs = CostModel::from_graph(here.graph, here.platform);
    const Problem problem(costs, Objective::kColdStart);
    Context context;
    context.seed = seed;
    context.bound = cold_start_bound(here.graph, costs);
    for (const Algorithm* const algorithm : cold_rows()) {
      SCOPED_TRACE(algorithm->name);
      try {
        const ScheduleResult result = schedule_cold_start(
            *algorithm, problem, small_options(*algorithm), context, {0, "none"});
        const auto findings =
            validate(here.graph, here.platform, result.schedule, Objective::kColdStart);
        EXPECT_TRUE(findings.empty()) << findings.front().text;
        EXPECT_GE(result.latency_ms, context.bound->ms - kRoundingOfColdBounds);
        ++made;
      } catch (const InputError& error) {
        EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
        ++refused;
      }
    }
  }
  EXPECT_GT(made, 20u);
  EXPECT_GT(refused, 3u);
}

}  // namespace
}  // namespace hios::scheduler
