#include "scheduler/batches/divided.h"

#include <gtest/gtest.h>

#include "hios/base/error.h"
#include "hios/evaluate/simulate.h"
#include "hios/evaluate/validate.h"
#include "scheduler/batches/copies.h"
#include "scheduler/batches/every_division.h"
#include "scheduler/batches/join.h"
#include "scheduler/milp/solver.h"
#include "scheduler/registry.h"
#include "scheduler/structures/numbers.h"
#include "support/graphs/dag_generator.h"
#include "support/graphs/random_batches.h"
#include "support/oracles/brute_force.h"
#include "support/sanitized.h"

namespace hios::scheduler {
namespace {

/// Returns operators on different devices whose times grow more slowly or faster than the number of
/// inputs; some devices cannot run some sizes.
Graph random_sized_graph(std::size_t operators, std::int64_t inputs, std::size_t devices,
                         Random& random) {
  std::vector<Operator> described;
  std::vector<Edge> edges;
  for (std::size_t v = 0; v < operators; ++v) {
    Operator op;
    op.name = "op" + std::to_string(v);
    op.memory_bytes = 12 * (1 + random.below(10));
    op.parameter_bytes = random.below(60);
    for (std::size_t d = 0; d < devices; ++d) {
      auto& times = op.time_by_size["gpu" + std::to_string(d)];
      const double fixed_ms = random.uniform(0, 2), each_ms = random.uniform(0.1, 2);
      for (std::int64_t size = 1; size <= inputs; ++size) {
        if (d > 0 && random.below(6) == 0) continue;
        times[size] = fixed_ms + each_ms * static_cast<double>(size) * random.uniform(0.8, 1.2);
      }
      if (times.empty()) op.time_by_size.erase("gpu" + std::to_string(d));
    }
    described.push_back(op);
    for (std::size_t u = 0; u < v; ++u) {
      if (random.below(2) == 0) edges.push_back({OpId(u), OpId(v), 0, random.uniform(0, 2)});
    }
  }
  return Graph("sized", std::move(described), std::move(edges), {}, inputs);
}

/// Returns devices of one stream, the first of which mostly holds only some of the operators.
Platform limited(std::size_t count, std::size_t operators, Random& random) {
  const Platform all = test::devices(count, 1);
  std::vector<Device> devices(all.devices().begin(), all.devices().end());
  if (count > 1 && random.below(4) > 0) {
    devices.front().memory_bytes = 40 * operators + random.below(120 * operators);
  }
  return Platform(std::move(devices));
}

/// A graph, a platform and the inputs of schedulers.
struct Case {
  Case(std::size_t operators, std::int64_t inputs, std::size_t devices, Random& random)
      : platform(limited(devices, operators, random)),
        graphs(random_sized_graph(operators, inputs, devices, random),
               batch_sizes(inputs, inputs)) {}
  DivisibleProblem problem() const {
    return {&graphs, &platform,
            [this](const Graph& graph) { return CostModel::from_graph(graph, platform); }};
  }
  Platform platform;
  SizedGraphs graphs;
};

std::vector<Batch> batches_of(const SizedGraphs& graphs, const std::vector<std::uint64_t>& cuts) {
  std::vector<Batch> batches;
  for (std::size_t op = 0; op < cuts.size(); ++op) {
    std::int64_t begin = 0;
    for (std::int64_t end = 1; end <= graphs.inputs(); ++end) {
      if (end < graphs.inputs() && (cuts[op] >> (end - 1) & 1) == 0) continue;
      batches.push_back({OpId(op), {begin, end}});
      begin = end;
    }
  }
  return batches;
}

/// Returns the least latency over every division and every schedule of each.
double least_of_all(const Case& one) {
  double least = std::numeric_limits<double>::infinity();
  const std::uint64_t masks = std::uint64_t{1} << (one.graphs.inputs() - 1);
  std::vector<std::uint64_t> cuts(one.graphs.whole()->size(), 0);
  while (true) {
    try {
      const Graph graph = divide(one.graphs, batches_of(one.graphs, cuts));
      const CostModel costs = CostModel::from_graph(graph, one.platform);
      least = std::min(
          least, test::brute_force(graph, one.platform, test::plain_costs_of(costs)).latency_ms);
    } catch (const InputError&) {  // no device runs this size
    }
    std::size_t op = 0;
    while (op < cuts.size() && ++cuts[op] == masks) cuts[op++] = 0;
    if (op == cuts.size()) return least;
  }
}

Options quick(const Algorithm& algorithm) {
  Options options(algorithm.options);
  if (options.has("iterations")) options.set("iterations=300");
  if (options.has("generations")) options.set("generations=3");
  return options;
}

DividedResult scheduled(const Case& one, const Algorithm& algorithm) {
  Context context;
  context.bound = bound_of_every_division(one.problem());
  return schedule_divided(one.problem(), algorithm, quick(algorithm), context);
}

void expect_sound(const Case& one, const DividedResult& made) {
  const auto& [division, result] = made;
  EXPECT_TRUE(validate(*division.graph, one.platform, result.schedule).empty());
  EXPECT_DOUBLE_EQ(simulate(*division.graph, result.schedule, *division.costs).latency_ms,
                   result.latency_ms);
  EXPECT_LE(result.lower_bound_ms, result.latency_ms * (1 + kRounding));
}

TEST(EveryDivision, BoundsAreBelowTheOptimumOfAll) {
  for (std::uint64_t seed = 0; seed < test::tries(60u); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "divisions");
    const Case one(2 + seed % 2, 2, 1 + seed % 3, random);
    const double least = least_of_all(one);
    EXPECT_LE(bound_of_every_division(one.problem()).ms, least * (1 + kRounding));
  }
}

TEST(Divided, EveryAlgorithmIsValidAndNotBelowTheOptimum) {
  for (std::uint64_t seed = 0; seed < test::tries(12u); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "algorithms");
    const Case one(3, 2, 2, random);
    const double least = least_of_all(one);
    for (const Algorithm& algorithm : built_in().all()) {
      if (algorithm.objective == Objective::kColdStart) continue;  // cold_oracle_test judges those
      if (algorithm.exact && milp::solvers().empty()) continue;    // it throws without a solver
      SCOPED_TRACE(algorithm.name);
      const DividedResult made = scheduled(one, algorithm);
      expect_sound(one, made);
      EXPECT_GE(made.result.latency_ms, least * (1 - kRounding));
      if (made.result.outcome == Outcome::kOptimal && algorithm.exact) {
        EXPECT_NEAR(made.result.latency_ms, least, 1e-5 * (1 + least));
      }
    }
  }
}

TEST(Divided, MilpIsTheOptimumOfAllDivisionsOfThreeOperatorsAndThreeInputs) {
  if (milp::solvers().empty()) return;  // minimal builds have no solver, and milp throws
  const Algorithm& algorithm = built_in().find("milp");
  for (std::uint64_t seed = 0; seed < test::tries(3u); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "three");
    const Case one(3, 3, 2, random);
    const double least = least_of_all(one);
    const DividedResult made = scheduled(one, algorithm);
    expect_sound(one, made);
    EXPECT_NEAR(made.result.latency_ms, least, 1e-5 * (1 + least));
    EXPECT_LE(made.result.lower_bound_ms, least * (1 + kRounding));
    EXPECT_GE(made.result.lower_bound_ms, least * (1 - 1e-5) - 1e-5);
    EXPECT_EQ(made.result.outcome, Outcome::kOptimal);
  }
}

TEST(Divided, WithoutTimeThereIsStillASchedule) {
  Random random(1, "no time");
  const Case one(3, 3, 2, random);
  Context context;
  context.deadline = Deadline([] { return true; }, [] { return 0.0; }, 0);
  for (const Algorithm& algorithm : built_in().all()) {
    if (algorithm.objective == Objective::kColdStart) continue;  // cold_oracle_test judges those
    if (algorithm.exact && milp::solvers().empty()) continue;
    SCOPED_TRACE(algorithm.name);
    expect_sound(one, schedule_divided(one.problem(), algorithm, quick(algorithm), context));
  }
}

TEST(Divided, NeedsNoTimesForAllInputsAtOnce) {
  Operator op;
  op.name = "a";
  op.time_by_size["gpu0"] = {{1, 1}, {2, 1.5}};
  const Platform platform = test::devices(1, 1);
  const SizedGraphs graphs(Graph("few", {op}, {}, {}, 4), batch_sizes(4, std::int64_t{4}));
  const DivisibleProblem problem{&graphs, &platform, [&](const Graph& graph) {
                                   return CostModel::from_graph(graph, platform);
                                 }};
  Context context;
  context.bound = bound_of_every_division(problem);
  EXPECT_DOUBLE_EQ(context.bound->ms, 3);
  const Algorithm& heft = built_in().find("heft");
  const DividedResult made = schedule_divided(problem, heft, Options(heft.options), context);
  EXPECT_DOUBLE_EQ(made.result.latency_ms, 3);
  EXPECT_EQ(made.result.outcome, Outcome::kOptimal);
}

TEST(Copies, SharesAreValidAndNotBelowTheBound) {
  for (std::uint64_t seed = 0; seed < test::tries(40u); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "copies");
    const Case one(3, 6, 3, random);
    const auto made = copies(one.problem());
    if (!made) continue;
    EXPECT_TRUE(validate(*made->division.graph, one.platform, made->schedule).empty());
    for (const Edge& edge : made->division.graph->edges()) {
      EXPECT_EQ(made->division.graph->batch(edge.from).inputs,
                made->division.graph->batch(edge.to).inputs);
    }
    // The bound holds for every division, so for shares of inputs too.
    EXPECT_GE(made->latency_ms, bound_of_every_division(one.problem()).ms * (1 - kRounding));
  }
}

TEST(Copies, SharesFollowTheTimesOfDevices) {
  Operator op;
  op.name = "only";
  op.time_by_size["gpu0"] = {{1, 1}, {2, 2}, {3, 3}, {4, 4}};
  op.time_by_size["gpu1"] = {{1, 3}, {2, 6}, {3, 9}, {4, 12}};
  const Platform platform = test::devices(2, 1);
  const SizedGraphs graphs(Graph("one", {op}, {}, {}, 4), batch_sizes(4, std::int64_t{4}));
  const DivisibleProblem problem{&graphs, &platform, [&](const Graph& graph) {
                                   return CostModel::from_graph(graph, platform);
                                 }};
  const auto made = copies(problem);
  ASSERT_TRUE(made);
  EXPECT_DOUBLE_EQ(made->latency_ms, 3) << "three on the faster device, one on the other";
}

TEST(JoinBatches, IsNeverLongerThanItsStart) {
  std::size_t shorter = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "joins");
    const Case one(4, 4, 2, random);
    const DivisibleProblem problem = one.problem();
    Division division;
    try {
      division = make_division(problem, test::random_batches(one.graphs, random));
    } catch (const InputError&) {
      continue;
    }
    const ScheduleResult start = built_in().find("heft").run(
        Problem(*division.costs), Options(built_in().find("heft").options), {});
    const TimedDivision joined =
        join_batches(problem, {division, start.schedule, start.latency_ms}, {});
    EXPECT_TRUE(validate(*joined.division.graph, one.platform, joined.schedule).empty());
    EXPECT_DOUBLE_EQ(
        simulate(*joined.division.graph, joined.schedule, *joined.division.costs).latency_ms,
        joined.latency_ms);
    EXPECT_LE(joined.latency_ms, start.latency_ms);
    shorter += joined.latency_ms < start.latency_ms;
  }
  EXPECT_GT(shorter, 10u) << "it never finds a shorter one";
}

}  // namespace
}  // namespace hios::scheduler
