#include "scheduler/split/diagram/decision_diagram.h"
#include "hios/graph/random/random_dag_text.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "hios/evaluate/simulate.h"
#include "hios/evaluate/validate.h"
#include "hios/graph/random/random_dag.h"
#include "scheduler/milp/milp.h"
#include "scheduler/split/diagram/diagram_problem.h"
#include "scheduler/split/diagram/gap_closer.h"
#include "scheduler/split/diagram/tails.h"
#include "support/graphs/dag_generator.h"
#include "support/oracles/brute_force.h"
#include "support/oracles/slow_simulator.h"
#include "support/sanitized.h"

// Bounds by decision diagrams are never above the optimum of brute force, or on larger graphs of
// the linear program. Without merges, they are the optimum.

namespace hios::scheduler::split {
namespace {

using test::unlike_devices;

constexpr std::size_t kWide = 1'000'000;

/// The same with a time of its own for each tensor and ordered pair of devices.
Graph with_pair_times(const Graph& graph, const Platform& platform, Random& random) {
  std::vector<Operator> operators;
  for (std::size_t v = 0; v < graph.size(); ++v) operators.push_back(graph.op(OpId(v)));
  std::vector<Edge> edges;
  for (std::size_t e = 0; e < graph.edge_count(); ++e) {
    edges.push_back(graph.edge(EdgeId(e)));
    PairTimes times;
    for (const Device& from : platform.devices()) {
      for (const Device& to : platform.devices()) {
        if (from.name == to.name) continue;
        times[from.name][to.name] = static_cast<double>(random.below(1000)) / 1000;
      }
    }
    edges.back().transfer_ms.reset();
    edges.back().transfer_by_pair = std::make_shared<const PairTimes>(std::move(times));
  }
  return Graph("pairs", std::move(operators), std::move(edges));
}

double latency_of(const DiagramResult& found, const CostModel& costs) {
  Schedule schedule;
  schedule.devices.resize(costs.platform().size());
  for (const auto& [v, d] : found.order) {
    schedule.devices[d].push_back(Stage{{{costs.graph().topological()[v]}}});
  }
  EXPECT_TRUE(validate(costs.graph(), costs.platform(), schedule).empty());
  return simulate(costs.graph(), schedule, costs).latency_ms;
}

GapCloser closed(const CostModel& costs, double incumbent_ms, const Context& context = {}) {
  GapCloser closer(costs, 0, incumbent_ms);
  closer.run(3, context);
  return closer;
}

/// Checks every use of one problem with a known optimum.
void judge_search(const DiagramProblem& problem, double least, const CostModel* costs) {
  for (const std::size_t width : {std::size_t{1}, std::size_t{20}, kWide}) {
    for (const double share : {0.8, 1.001, 1.5}) {
      const DiagramResult found = compile_diagram(problem, {share * least, width});
      EXPECT_LE(found.bound_ms, least * std::min(1.0, share) * (1 + 1e-9));
      if (width < kWide || share < 1) continue;
      EXPECT_GE(found.bound_ms, least * (1 - 1e-9)) << "no states were merged";
      if (costs != nullptr) {
        EXPECT_NEAR(latency_of(found, *costs), least, 1e-9 * least);
      }
    }
  }
}

void judge_diagrams(const Graph& graph, const Platform& platform) {
  const CostModel costs = CostModel::from_graph(graph, platform);
  const double least = test::brute_force(graph, platform, test::plain_costs_of(costs)).latency_ms;
  if (!(least > 0)) return;
  const DiagramProblem plain = diagram_problem(costs);
  judge_search(plain, least, &costs);
  judge_search(mirrored(plain), least, nullptr);
  for (const double share : {1.0001, 1.3}) {
    DiagramProblem problem = diagram_problem(costs);
    tighten_along_paths(problem);
    for (const std::size_t followers : {2u, 4u, 12u}) {
      raise_tails(problem, {share * least, followers, followers * followers});
      EXPECT_LE(longest_path_ms(problem), least * (1 + 1e-9));
      EXPECT_LE(compile_diagram(problem, {share * least, 4}).bound_ms, least * (1 + 1e-9));
      problem = mirrored(problem);
    }
    const GapCloser closing = closed(costs, share * least);
    EXPECT_LE(closing.bound_ms(), least * (1 + 1e-9));
    EXPECT_GE(closing.bound_ms(), least * (1 - 2 * milp::kTolerance));
    ASSERT_TRUE(closing.schedule().has_value());
    EXPECT_NEAR(simulate(graph, *closing.schedule(), costs).latency_ms, least, 1e-5 * least);
  }
}

TEST(DecisionDiagram, BoundsAreTheOptimumOfAnyDag) {
  for (std::uint64_t seed = 0; seed < test::tries(200u); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "decision diagram");
    test::CostStyle style;
    style.overlap = false;
    style.small_integers = seed % 3 == 0;
    style.by_device = seed % 2 == 0;
    const Platform platform = test::devices(2 + seed % 2, 1);
    Graph graph = test::dag(5 + seed % 2, random.below(1 << 15), style, random);
    if (seed % 5 > 1) graph = with_pair_times(graph, platform, random);
    judge_diagrams(graph, platform);
    if (HasFailure()) return;
  }
}

TEST(DecisionDiagram, BoundsAreTheOptimumOfModules) {
  for (std::uint64_t seed = 0; seed < test::tries(12u); ++seed) {
    for (const char* shape :
         {"modules=3,nodes=2", "modules=2,nodes=3", "modules=1,nodes=6,channels=2,ends=weak",
          "modules=1,nodes=6,channels=3,ends=weak,wiring=ba2", "modules=3,nodes=2,channels=1",
          "modules=1,nodes=7,channels=3,ends=strong"}) {
      const std::string words = std::string(shape) + ",seed=" + std::to_string(seed);
      SCOPED_TRACE(words);
      judge_diagrams(random_problem(parse_random_dag(words), unlike_devices()).graph,
                     unlike_devices());
      if (HasFailure()) return;
    }
  }
}

TEST(DecisionDiagram, BoundsRespectMemoryLabelsAndDevices) {
  for (std::uint64_t seed = 0; seed < test::tries(60u); ++seed) {
    const std::string words = "n=6,family=" + std::string(seed % 2 == 0 ? "dense" : "tree") +
                              ",speeds=1:0.5,memory=" + (seed % 3 == 0 ? "1.3" : "1.05") +
                              ",colocate=0.5,allowed=0.2,seed=" + std::to_string(seed);
    SCOPED_TRACE(words);
    const RandomProblem problem = random_problem(parse_random_dag(words), test::devices(2, 1));
    judge_diagrams(problem.graph, problem.platform);
    if (HasFailure()) return;
  }
}

// Too many operators for brute force: two ways that have nothing in common come to one number.
TEST(DecisionDiagram, BoundsOfSeveralChannelsAreWhatTheLinearProgramProves) {
  if (milp::solvers().empty()) GTEST_SKIP() << "this build found no solver";
  std::size_t proved = 0;
  for (std::uint64_t seed = 0; seed < test::tries(3u); ++seed) {
    for (std::size_t channels = 1; channels <= 4; ++channels) {
      const std::string words = "modules=2,nodes=8,channels=" + std::to_string(channels) +
                                (seed % 2 == 0 ? ",ends=weak" : "") +
                                ",seed=" + std::to_string(seed);
      SCOPED_TRACE(words);
      const RandomProblem problem = random_problem(parse_random_dag(words), unlike_devices());
      const CostModel costs = CostModel::from_graph(problem.graph, problem.platform);
      milp::MilpOptions options;
      options.solver = milp::find_solver("any");
      options.iterations = 2000;
      options.nodes = 20000;
      const milp::MilpResult exact =
          milp::schedule_exactly(problem.graph, costs, options, Context{});
      const double ms = simulate(problem.graph, exact.schedule, costs).latency_ms;
      const GapCloser closing = closed(costs, 1.1 * ms);
      EXPECT_LE(closing.bound_ms(), ms * (1 + 1e-9));
      if (!exact.optimal) continue;
      ++proved;
      EXPECT_GE(closing.bound_ms(), ms * (1 - 1e-5));
    }
  }
  EXPECT_GE(proved, test::tries(8u));
}

TEST(DecisionDiagram, BoundsHoldWithContention) {
  for (std::uint64_t seed = 0; seed < test::tries(10u); ++seed) {
    const std::string words = "modules=2,nodes=5,channels=2,seed=" + std::to_string(seed);
    SCOPED_TRACE(words);
    const Platform apart = unlike_devices(), contended = unlike_devices(hios::Contention::kPort);
    const Graph graph = random_problem(parse_random_dag(words), apart).graph;
    const CostModel costs = CostModel::from_graph(graph, contended);
    const CostModel free = CostModel::from_graph(graph, apart);
    const double bound_ms = closed(costs, 100).bound_ms();
    EXPECT_NEAR(bound_ms, closed(free, 100).bound_ms(), 1e-4 * bound_ms);
  }
}

TEST(DecisionDiagram, AStopLeavesABound) {
  const RandomProblem problem =
      random_problem(parse_random_dag("modules=3,nodes=8,channels=2"), unlike_devices());
  const CostModel costs = CostModel::from_graph(problem.graph, problem.platform);
  const double incumbent_ms = 100, optimum_ms = closed(costs, incumbent_ms).bound_ms();
  for (std::size_t stop = 0; stop < 300; stop += 7) {
    std::size_t asked = 0;
    Context late;
    late.deadline = Deadline([&] { return asked++ >= stop; });
    EXPECT_LE(closed(costs, incumbent_ms, late).bound_ms(), optimum_ms * (1 + 1e-5));
  }
}

}  // namespace
}  // namespace hios::scheduler::split
