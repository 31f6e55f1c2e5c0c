#include "scheduler/milp/milp.h"
#include "hios/graph/random/random_dag_text.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "hios/base/error.h"
#include "hios/evaluate/simulate.h"
#include "hios/evaluate/validate.h"
#include "hios/graph/random/random_dag.h"
#include "scheduler/best/best.h"
#include "scheduler/milp/cuts.h"
#include "scheduler/milp/stages/stage_search.h"
#include "support/expect_error.h"
#include "support/graphs/dag_generator.h"
#include "support/graphs/small_graph.h"
#include "support/oracles/brute_force.h"
#include "support/oracles/contended_brute_force.h"
#include "support/oracles/slow_simulator.h"
#include "support/oracles/solvers.h"
#include "support/sanitized.h"

namespace hios::scheduler::milp {
namespace {

using test::CostStyle;
using test::kSolverTolerance;

/// Returns devices of one stream: stages cannot gain, so the program's optimum is the problem's.
Platform single(std::size_t count) { return test::devices(count, 1); }

MilpResult solved(const Graph& graph, const CostModel& costs, const Solver& solver,
                  Symmetry symmetry = Symmetry::kTasks) {
  MilpOptions options;
  options.solver = &solver;
  options.symmetry = symmetry;
  options.iterations = 50;  // so that the start is not already optimal
  return schedule_exactly(graph, costs, options, {});
}

/// Expects that the solver proves the optimum of brute force.
void expect_optimum(const Graph& graph, const Platform& platform, const Solver& solver,
                    Symmetry symmetry = Symmetry::kTasks) {
  const CostModel costs = CostModel::from_graph(graph, platform);
  const double least = test::brute_force(graph, platform, test::plain_costs_of(costs)).latency_ms;
  const MilpResult result = solved(graph, costs, solver, symmetry);
  ASSERT_TRUE(validate(graph, platform, result.schedule).empty());
  EXPECT_TRUE(result.optimal);
  EXPECT_NEAR(simulate(graph, result.schedule, costs).latency_ms, least,
              kSolverTolerance * (1 + least));
  ASSERT_TRUE(result.bound.has_value());
  EXPECT_LE(result.bound->ms, least * (1 + 1e-9));
  EXPECT_GE(result.bound->ms, least * (1 - kSolverTolerance) - kSolverTolerance);
}

CostStyle serial_style(std::uint64_t number) {
  CostStyle style;
  style.overlap = false;
  style.small_integers = number % 3 == 0;
  style.by_device = number % 4 != 0;
  return style;
}

class Milp : public ::testing::TestWithParam<std::string> {
 protected:
  const Solver& solver() const { return *find_solver(GetParam()); }
};

TEST_P(Milp, IsTheOptimumOfEveryDagOfUpToFourOperators) {
  for (std::size_t n = 1; n <= 4; ++n) {
    const std::uint64_t edge_sets = std::uint64_t{1} << (n * (n - 1) / 2);
    for (std::uint64_t edge_set = 0; edge_set < edge_sets; ++edge_set) {
      SCOPED_TRACE(std::to_string(n) + " operators, edge set " + std::to_string(edge_set));
      Random random(edge_set, "milp");
      const Graph graph = test::dag(n, edge_set, serial_style(edge_set), random);
      expect_optimum(graph, single(2 + edge_set % 2), solver());
      if (HasFailure()) return;
    }
  }
}

TEST_P(Milp, IsTheOptimumOfDagsOfFiveOperatorsWithAnySymmetry) {
  for (std::uint64_t seed = 0; seed < test::tries(200u); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "milp of five");
    const Graph graph = test::dag(5, random.below(1 << 10), serial_style(seed), random);
    const Symmetry symmetries[] = {Symmetry::kNone, Symmetry::kTasks, Symmetry::kTime};
    expect_optimum(graph, single(3), solver(), symmetries[seed % 3]);
    if (HasFailure()) return;
  }
}

// Labels, lists of devices, and just enough memory.
TEST_P(Milp, HonoursLimitsOfPlacements) {
  for (std::uint64_t seed = 0; seed < test::tries(60u); ++seed) {
    const std::string words = "n=6,seed=" + std::to_string(seed) +
                              ",family=" + (seed % 2 == 0 ? "dense" : "forkjoin") +
                              (seed % 3 == 0   ? ",speeds=1:0.5,memory=1"
                               : seed % 3 == 1 ? ",memory=1.05,allowed=0.3"
                                               : ",speeds=2:1,memory=1.1,colocate=0.5");
    SCOPED_TRACE(words);
    const RandomProblem network = random_problem(parse_random_dag(words), single(2));
    expect_optimum(network.graph, network.platform, solver());
    if (HasFailure()) return;
  }
}

TEST_P(Milp, TransfersCostAsTheirPairOfDevices) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "pairs");
    const Graph given = test::dag(5, random.below(1 << 10), serial_style(1), random);
    std::vector<Edge> edges(given.edges().begin(), given.edges().end());
    for (Edge& edge : edges) {
      edge.transfer_ms.reset();
      edge.size_bytes = Bytes{100'000} * (1 + random.below(10));
    }
    const Graph graph("pairs", {given.operators().begin(), given.operators().end()}, edges,
                      given.stage_cost());
    const auto device = [](const char* name) { return Device{name, "gpu", 0, 1, 0, ""}; };
    const Platform platform({device("gpu0"), device("gpu1"), device("gpu2")},
                            {{DeviceId(0), DeviceId(1), {0.1, 10}},
                             {DeviceId(0), DeviceId(2), {0.5, 1}},
                             {DeviceId(1), DeviceId(2), {0.01, 0.5}}});
    expect_optimum(graph, platform, solver());
    if (HasFailure()) return;
  }
}

/// Like expect_optimum(), over every order of transfers, which the schedule lists.
void expect_contended_optimum(const Graph& graph, std::size_t devices, hios::Contention contention,
                              const Solver& solver) {
  const Platform platform = test::devices(devices, 1, contention);
  const CostModel costs = CostModel::from_graph(graph, platform);
  const test::PlainCosts plain_costs = test::plain_costs_of(costs);
  const double least =
      test::contended_brute_force(graph, platform, plain_costs, contention).any_order_ms;
  const MilpResult result = solved(graph, costs, solver);
  ASSERT_TRUE(validate(graph, platform, result.schedule).empty());
  EXPECT_TRUE(result.optimal);
  EXPECT_NEAR(simulate(graph, result.schedule, costs).latency_ms, least,
              kSolverTolerance * (1 + least));
  ASSERT_TRUE(result.bound.has_value());
  EXPECT_LE(result.bound->ms, least * (1 + 1e-9));
  EXPECT_GE(result.bound->ms, least * (1 - kSolverTolerance) - kSolverTolerance);
}

TEST_P(Milp, OrdersTransfersOfEveryDagOfUpToFourOperators) {
  for (std::size_t n = 1; n <= 4; ++n) {
    const std::uint64_t edge_sets = std::uint64_t{1} << (n * (n - 1) / 2);
    for (std::uint64_t edge_set = 0; edge_set < edge_sets; ++edge_set) {
      for (const auto contention : {hios::Contention::kLink, hios::Contention::kPort}) {
        SCOPED_TRACE(std::to_string(n) + " operators, edge set " + std::to_string(edge_set));
        Random random(edge_set, "contended milp");
        const Graph graph = test::dag(n, edge_set, serial_style(edge_set), random);
        expect_contended_optimum(graph, 2 + edge_set % 2, contention, solver());
        if (HasFailure()) return;
      }
    }
  }
}

TEST_P(Milp, OrdersTransfersOfDagsOfFiveOperators) {
  for (std::uint64_t seed = 0; seed < test::tries(60u); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "contended milp of five");
    const Graph graph = test::dag(5, random.below(1 << 10), serial_style(seed), random);
    expect_contended_optimum(graph, 2 + seed % 2,
                             seed % 4 < 2 ? hios::Contention::kLink : hios::Contention::kPort,
                             solver());
    if (HasFailure()) return;
  }
}

TEST_P(Milp, NeverExceedsItsStartAndIsDeterministic) {
  for (std::uint64_t seed = 0; seed < test::tries(3u); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const RandomProblem network = random_problem(
        parse_random_dag("n=14,edges=25,layers=5,speeds=1:0.7,seed=" + std::to_string(seed)),
        single(2));
    const CostModel costs = CostModel::from_graph(network.graph, network.platform);
    best::BestOptions moves;
    moves.iterations = 50;
    const double start = best::search(network.graph, costs, moves, 0, {}).latency_ms;
    MilpOptions options;
    options.solver = &solver();
    options.iterations = 50;
    options.nodes = 20;
    const MilpResult once = schedule_exactly(network.graph, costs, options, {});
    const MilpResult again = schedule_exactly(network.graph, costs, options, {});
    EXPECT_LE(simulate(network.graph, once.schedule, costs).latency_ms, start * (1 + 1e-12));
    EXPECT_EQ(once.schedule, again.schedule);
  }
}

TEST_P(Milp, ProvesTheSmallestWhereStagesGain) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "stages gain");
    const Graph graph = test::dag(4, random.below(1 << 6), {}, random);
    const Platform platform = test::devices(2, 3);
    const CostModel costs = CostModel::from_graph(graph, platform);
    const MilpResult result = solved(graph, costs, solver());
    const double least = test::brute_force(graph, platform, test::plain_costs_of(costs)).latency_ms;
    EXPECT_TRUE(result.optimal);
    EXPECT_NEAR(simulate(graph, result.schedule, costs).latency_ms, least, 1e-9 * least);
    if (result.bound) {
      EXPECT_LE(result.bound->ms, least);
    }
  }
}

TEST_P(Milp, ClaimsNoProofWhereStagesGainAndAreTooManyToSearch) {
  Random random(3, "many stages");
  const Graph graph = test::random_graph(kMostSearched + 1, 0.1, {}, random);
  const Platform platform = test::devices(2, 3);
  const CostModel costs = CostModel::from_graph(graph, platform);
  MilpOptions options;
  options.solver = &solver();
  options.nodes = 1;
  options.iterations = 50;
  const MilpResult result = schedule_exactly(graph, costs, options, {});
  const LowerBound known = lower_bound(graph, costs);
  const double latency_ms = simulate(graph, result.schedule, costs).latency_ms;
  EXPECT_EQ(result.optimal, latency_ms <= known.ms);
  EXPECT_FALSE(result.bound.has_value());
}

TEST_P(Milp, ProvesThatMemoryDoesNotSuffice) {
  Graph graph = test::small_graph({1, 1, 1}, {});
  std::vector<Operator> operators(graph.operators().begin(), graph.operators().end());
  for (Operator& op : operators) op.memory_bytes = 60;
  graph = Graph("three", operators, {});
  const Platform platform({{"gpu0", "gpu", 0, 1, 100, ""}, {"gpu1", "gpu", 0, 1, 100, ""}});
  const CostModel costs = CostModel::from_graph(graph, platform);
  test::expect_error([&] { solved(graph, costs, solver()); }, {"milp", "proved", "memory"});
}

INSTANTIATE_TEST_SUITE_P(Solvers, Milp, ::testing::ValuesIn(test::solver_names()),
                         [](const auto& one) { return one.param; });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Milp);  // for builds without a solver

// Faulty solvers, whose answers must do no harm.
Answer gives_up(const Program&, const std::vector<double>&, const Limits&) {
  return {Status::kFailed, {}, kInfinity, -kInfinity, "out of order"};
}
Answer denies(const Program&, const std::vector<double>&, const Limits&) {
  return {Status::kInfeasible, {}, kInfinity, kInfinity};
}
Answer raves(const Program& program, const std::vector<double>&, const Limits&) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  return {Status::kOptimal, std::vector<double>(program.columns.size(), nan), nan, nan};
}
Answer boasts(const Program&, const std::vector<double>& start, const Limits&) {
  return {Status::kOptimal, start, 1e9, 1e9};
}

TEST(MilpOfABadSolver, LeavesTheStartAndNoBound) {
  const Graph graph = test::small_graph({1, 2, 3, 4}, {{1, 3, 0.5}, {2, 4, 0.5}});
  const Platform platform = single(2);
  const CostModel costs = CostModel::from_graph(graph, platform);
  for (const auto solve : {gives_up, denies, raves, boasts}) {
    const Solver bad{"bad", "0", solve};
    MilpOptions options;
    options.solver = &bad;
    Context context;
    context.bound = LowerBound{0, "none"};  // otherwise it proves the optimum and calls no solver
    const MilpResult result = schedule_exactly(graph, costs, options, context);
    EXPECT_TRUE(validate(graph, platform, result.schedule).empty());
    EXPECT_FALSE(result.optimal);
    EXPECT_FALSE(result.bound.has_value());
  }
}

TEST(MilpOfABadSolver, IsRefusedBySize) {
  const RandomProblem large = random_problem(parse_random_dag("n=2000,seed=1"), single(2));
  const CostModel costs = CostModel::from_graph(large.graph, large.platform);
  test::expect_error(
      [&] {
        solved(large.graph, costs, {"bad", "0", gives_up});
      },
      {"milp", "small", "2000 operators", "best"});
  // Any two of 960 tensors may share a port; construction stops at kMostTerms.
  const Platform alike = single(32);
  const Platform ports({alike.devices().begin(), alike.devices().end()}, {}, {},
                       {hios::Contention::kPort});
  const Graph few = random_dag(parse_random_dag("n=30,edges=60,layers=5,seed=3"));
  const CostModel contended = CostModel::from_graph(few, ports);
  test::expect_error(
      [&] {
        solved(few, contended, {"bad", "0", gives_up});
      },
      {"milp", "small", "30 operators on 32 devices", "best"});
  // Times around operators take devices² each, so many devices are refused before they are
  // computed.
  const Platform many = Platform::homogeneous(10'000, "gpu", 0, 1);
  const CostModel wide = CostModel::from_graph(few, many);
  test::expect_error(
      [&] {
        solved(few, wide, {"bad", "0", gives_up});
      },
      {"milp", "small", "30 operators on 10000 devices", "best"});
}

// Every schedule within the horizon's latency is a solution, also after cuts for arbitrary values:
// otherwise they could cut off the optimum.
TEST(Formulation, HoldsEverySchedule) {
  for (std::uint64_t seed = 0; seed < test::tries(300u); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "formulation");
    CostStyle style = serial_style(seed);
    style.by_device = false;
    const Graph graph = test::random_graph(2 + random.below(9), 0.3, style, random);
    const Platform alike = single(2 + random.below(2));
    const hios::Contention contentions[] = {hios::Contention::kNone, hios::Contention::kLink,
                                            hios::Contention::kPort};
    const Platform platform({alike.devices().begin(), alike.devices().end()}, {}, {},
                            {contentions[seed % 3]});
    const CostModel costs = CostModel::from_graph(graph, platform);
    const Schedule schedule = test::random_schedule(graph, platform, random);
    Schedule apart;
    for (const auto& stages : schedule.devices) {
      std::vector<OpId> order;
      for (const Stage& stage : stages) {
        for (const Group& group : stage.groups)
          order.insert(order.end(), group.begin(), group.end());
      }
      apart.devices.push_back(one_operator_stages(order));
    }
    const double latency_ms = simulate(graph, apart, costs).latency_ms;
    if (latency_ms == 0) continue;
    const Symmetry symmetries[] = {Symmetry::kNone, Symmetry::kTasks, Symmetry::kTime};
    const Horizon horizon(graph, costs, latency_ms * (1 + static_cast<double>(seed % 2)));
    ASSERT_FALSE(horizon.infeasible());
    Formulation formulation(horizon, costs, symmetries[seed / 3 % 3]);
    const std::vector<double> values = formulation.values(apart, costs);
    EXPECT_LT(violation(formulation.program(), values), 1e-6);
    for (int round = 0; round < 5; ++round) {
      std::vector<double> any;
      for (const Program::Column& column : formulation.program().columns) {
        any.push_back(column.integer
                          ? random.uniform()
                          : column.lower + random.uniform() *
                                               (std::min(column.upper, 1e3) - column.lower) / 4);
      }
      add_cuts(formulation, any);
    }
    EXPECT_LT(violation(formulation.program(), values), 1e-6);
    const Schedule back = formulation.schedule(values);
    EXPECT_TRUE(validate(graph, platform, back).empty());
    EXPECT_NEAR(simulate(graph, back, costs).latency_ms, latency_ms, 1e-9 * latency_ms);
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace hios::scheduler::milp
