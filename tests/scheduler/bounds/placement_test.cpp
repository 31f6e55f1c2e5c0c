#include "scheduler/bounds/classes/placement.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "hios/graph/random/random_dag.h"
#include "hios/graph/random/random_dag_text.h"
#include "scheduler/bounds/bounds.h"
#include "scheduler/bounds/classes/assignment_dual.h"
#include "scheduler/bounds/graph/class_costs.h"
#include "scheduler/bounds/relaxations/preemptive.h"
#include "scheduler/structures/cholesky.h"
#include "support/graphs/dag_generator.h"
#include "support/oracles/brute_force.h"
#include "support/sanitized.h"

// Compares the bound by classes of devices with brute force, and its parts with all assignments.

namespace hios::scheduler {
namespace {

/// Returns the largest bound with and without the one called "placement".
std::pair<double, double> with_and_without(const Graph& graph, const CostModel& costs) {
  double with = 0, without = 0;
  for (const LowerBound& bound : all_bounds(graph, costs)) {
    with = std::max(with, bound.ms);
    if (bound.name != "placement") without = std::max(without, bound.ms);
  }
  return {with, without};
}

RandomProblem unlike_network(const std::string& words, std::size_t devices) {
  return random_problem(parse_random_dag(words), test::devices(devices, 1));
}

/// Returns a chain of operators that take 1 ms on an accelerator and 10 on a core.
Graph slow_chain(std::size_t operators) {
  std::vector<Operator> list(operators);
  std::vector<Edge> edges;
  for (std::size_t i = 0; i < operators; ++i) {
    list[i].name = std::string("v").append(std::to_string(i));
    list[i].time_by_device = {{"gpu", 1}, {"cpu", 10}};
    list[i].memory_bytes = 1000;
    if (i > 0) edges.push_back(Edge{OpId(i - 1), OpId(i), 0, 0.5});
  }
  return Graph("chain", std::move(list), std::move(edges));
}

// The accelerators hold half of the operators. The rest runs on cores, one after the other, however
// many cores there are: 3 + 30 + 0.5 for the transfer.
TEST(PlacementBound, MemoryPutsOperatorsOfAPathOnSlowCores) {
  const Graph graph = slow_chain(6);
  const Platform platform({{"a", "gpu", 0, 1, 3500, ""},
                           {"c0", "cpu", 1, 1, 0, ""},
                           {"c1", "cpu", 1, 1, 0, ""},
                           {"c2", "cpu", 1, 1, 0, ""}});
  const auto [with, without] = with_and_without(graph, CostModel::from_graph(graph, platform));
  EXPECT_LE(with, 33.5);
  EXPECT_GT(with, 33.2);
  EXPECT_LT(without, 20);
}

// A longer chain is not divided into cases.
TEST(PlacementBound, PathsWithMemoryByMultipliersAlone) {
  const Graph graph = slow_chain(60);
  const Platform platform({{"a", "gpu", 0, 1, 30'000, ""},
                           {"c0", "cpu", 1, 1, 0, ""},
                           {"c1", "cpu", 1, 1, 0, ""},
                           {"c2", "cpu", 1, 1, 0, ""}});
  const auto [with, without] = with_and_without(graph, CostModel::from_graph(graph, platform));
  EXPECT_LE(with, 330.5);
  EXPECT_GT(with, 325);
  EXPECT_LT(without, 200);
}

TEST(PlacementBound, AgainstBruteForceOnUnlikeDevices) {
  const char* families[] = {"layered,layers=3", "tree", "chain,width=2", "dense,density=0.3",
                            "independent"};
  const char* devices[] = {"speeds=1:0.4,spread=0.5,memory=1.05",
                           "speeds=1:0.1,spread=0.3,memory=1.2,colocate=0.3",
                           "speeds=1:0.05,spread=0.5,allowed=0.3", "speeds=1:0.5,spread=1"};
  double with_sum = 0, without_sum = 0, worst = 1;
  int problems = 0;
  for (std::uint64_t seed = 0; seed < test::tries(60u); ++seed) {
    const std::string words = std::string("family=") + families[seed % 5] + "," +
                              devices[seed % 4] + ",n=6,seed=" + std::to_string(seed);
    SCOPED_TRACE(words);
    const RandomProblem made = unlike_network(words, 2);
    const double best = test::brute_force(made.graph, made.platform,
                                          test::plain_costs_of(made.graph, made.platform))
                            .latency_ms;
    const auto [with, without] =
        with_and_without(made.graph, CostModel::from_graph(made.graph, made.platform));
    ASSERT_LE(with, best * (1 + test::kOracleRounding));
    with_sum += best / with;
    without_sum += best / without;
    worst = std::max(worst, best / with);
    ++problems;
  }
  RecordProperty("mean", std::to_string(with_sum / problems));
  RecordProperty("worst", std::to_string(worst));
  EXPECT_LT(with_sum / problems, 1.08);
  EXPECT_LT(worst, 1.25);
  EXPECT_GT(without_sum / problems, with_sum / problems);
}

TEST(PlacementBound, AgainstBruteForceOnThreeDevicesOfTwoClasses) {
  for (std::uint64_t seed = 0; seed < test::tries(40u); ++seed) {
    const std::string words =
        "n=5,layers=3,edges=6,speeds=1:0.3:0.3,memory=1.1,seed=" + std::to_string(seed) +
        (seed % 2 == 0 ? ",colocate=0.4" : "");
    SCOPED_TRACE(words);
    const RandomProblem made =
        random_problem(parse_random_dag(words), test::devices(3, 1 + static_cast<int>(seed % 3)));
    const double best = test::brute_force(made.graph, made.platform,
                                          test::plain_costs_of(made.graph, made.platform))
                            .latency_ms;
    const CostModel costs = CostModel::from_graph(made.graph, made.platform);
    ASSERT_LE(lower_bound(made.graph, costs).ms, best * (1 + test::kOracleRounding));
  }
}

// Weak duality: multipliers do not refute the latency of any assignment that meets memory, the
// largest of work, windows and paths.
TEST(PlacementBound, MultipliersAreBelowEveryAssignment) {
  for (std::uint64_t seed = 0; seed < test::tries(40u); ++seed) {
    const std::string words =
        "n=7,layers=3,edges=9,speeds=1:0.3:0.2,spread=0.5,memory=1.3,seed=" + std::to_string(seed);
    SCOPED_TRACE(words);
    const RandomProblem made = unlike_network(words, 3);
    const CostModel model = CostModel::from_graph(made.graph, made.platform);
    const Shares shares(made.graph, model);
    AllowedDevices allowed(made.graph, model);
    BoundGraphs graphs(made.graph, shares, allowed);
    const BoundGraph graph = graphs.whole();
    const Deadline deadline;
    const BoundContext context{made.graph, model, shares, allowed, deadline};
    const auto costs = class_costs(graph, context);
    ASSERT_TRUE(costs);
    const std::size_t n = graph.size(), classes = costs->classes();
    const TimeWindows windows{std::vector<double>(n, 0), std::vector<double>(n, 0)};
    double best = std::numeric_limits<double>::infinity();
    ClassCandidates candidates(graph, *costs, windows);
    ASSERT_TRUE(candidates.narrow(1e6));
    std::vector<std::size_t> best_on;
    std::size_t assignments = 1;
    for (std::size_t v = 0; v < n; ++v) assignments *= classes;
    for (std::size_t code = 0; code < assignments; ++code) {
      std::vector<double> load(classes, 0), held(classes, 0), end(n, 0);
      std::vector<std::size_t> on;
      for (std::size_t v = 0, rest = code; v < n; ++v, rest /= classes)
        on.push_back(rest % classes);
      double longest = 0;
      for (std::size_t v = 0, e = 0; v < n; ++v) {
        end[v] = candidates.head(v, on[v]);  // some devices lack the memory for some operators
        load[on[v]] += costs->work_ms[costs->cell(v, on[v])];
        held[on[v]] += costs->bytes[v];
        for (; e < costs->edges.size() && costs->edges[e].to == v; ++e) {
          const ClassEdge& edge = costs->edges[e];
          end[v] =
              std::max(end[v], end[edge.from] + costs->transfer_ms(edge, on[edge.from], on[v]));
        }
        end[v] += costs->path_ms[costs->cell(v, on[v])];
        longest = std::max(longest, end[v] + candidates.tail(v, on[v]));
      }
      bool fits = true;
      for (std::size_t k = 0; k < classes; ++k) {
        std::vector<Job> jobs;
        for (std::size_t v = 0; v < n; ++v) {
          if (on[v] != k) continue;
          jobs.push_back(
              {candidates.head(v, k), costs->window_ms[costs->cell(v, k)], candidates.tail(v, k)});
        }
        longest = std::max(longest, preemptive_ms(jobs, costs->count[k]));
        fits = fits && held[k] <= costs->capacity[k] * costs->count[k];
        longest = std::max(longest, load[k] / costs->count[k]);
      }
      if (fits && longest < best) {
        best = longest;
        best_on = on;
      }
    }
    AssignmentDual dual(*costs);
    double work = 1e9;
    EXPECT_GT(dual.raise(candidates, 2 * best, deadline, work), best * 0.3)
        << "the multipliers are far from the best";
    // For the latency of an assignment, the bound is not above it, and excludes nothing of it.
    EXPECT_LE(dual.raise(candidates, best, deadline, work), best * (1 + 1e-9));
    dual.exclude_costly(candidates, best);
    for (std::size_t v = 0; v < n; ++v) EXPECT_TRUE(candidates.may_be(v, best_on[v])) << v;
  }
}

TEST(Cholesky, SolvesSystems) {
  Random random(5, "cholesky");
  for (std::size_t size = 1; size < 12; ++size) {
    std::vector<double> root(size * size), matrix(size * size, 0), solution(size), side(size, 0);
    for (double& entry : root) entry = random.uniform(-1, 1);
    for (double& entry : solution) entry = random.uniform(-1, 1);
    for (std::size_t r = 0; r < size; ++r) {
      for (std::size_t c = 0; c < size; ++c) {
        for (std::size_t i = 0; i < size; ++i) {
          matrix[r * size + c] += root[r * size + i] * root[c * size + i];
        }
        if (r == c) matrix[r * size + c] += 0.1;
        side[r] += matrix[r * size + c] * solution[c];
      }
    }
    Cholesky(matrix, size).solve(side);
    for (std::size_t r = 0; r < size; ++r) EXPECT_NEAR(side[r], solution[r], 1e-9);
  }
}

}  // namespace
}  // namespace hios::scheduler
