#include "scheduler/bounds/modules/modules.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "hios/graph/random/random_dag.h"
#include "hios/graph/random/random_dag_text.h"
#include "scheduler/bounds/bounds.h"
#include "scheduler/bounds/graph/class_costs.h"
#include "scheduler/bounds/modules/chain_modules.h"
#include "scheduler/bounds/modules/module_placement.h"
#include "scheduler/bounds/modules/path_labels.h"
#include "support/graphs/dag_generator.h"
#include "support/oracles/brute_force.h"
#include "support/sanitized.h"

// Compares the bound by modules with brute force, and its parts with all placements on classes.

namespace hios::scheduler {
namespace {

/// The data that bounds of a problem share.
struct Parts {
  Graph graph;
  Platform platform;
  CostModel model;
  Shares shares;
  AllowedDevices allowed;
  BoundGraphs graphs;
  BoundGraph whole;
  Deadline deadline;
  BoundContext context;

  explicit Parts(const RandomProblem& made)
      : graph(made.graph),
        platform(made.platform),
        model(CostModel::from_graph(graph, platform)),
        shares(graph, model),
        allowed(graph, model),
        graphs(graph, shares, allowed),
        whole(graphs.whole()),
        context{graph, model, shares, allowed, deadline} {}
};

/// Returns modules of two operators that run at the same time, between separators. The accelerator
/// would run the first in 4 ms and the second in 1, and cores in 5 and in 8.
Graph pairs_between_separators(std::size_t modules) {
  std::vector<Operator> operators(3 * modules + 1);
  std::vector<Edge> edges;
  for (std::size_t i = 0; i < operators.size(); ++i) {
    operators[i].name = std::string("v").append(std::to_string(i));
    operators[i].time_by_device = {{"cpu", 1}};
    if (i % 3 == 0) continue;
    operators[i].memory_bytes = 1000;
    operators[i].time_by_device = {{"gpu", i % 3 == 1 ? 4 : 1}, {"cpu", i % 3 == 1 ? 5 : 8}};
    const std::size_t fork = i / 3 * 3;
    edges.push_back(Edge{OpId(fork), OpId(i), 0, 0});
    edges.push_back(Edge{OpId(i), OpId(fork + 3), 0, 0});
  }
  return Graph("pairs", std::move(operators), std::move(edges));
}

// The accelerator holds 8 operators, the second ones of half of the modules: 8 modules of 5 ms and
// 8 of 8 ms, and 17 separators. Dividing operators would rather give each module a part of its
// memory.
TEST(ModulesBound, OperatorsOfAModuleAreNotDivided) {
  const Graph graph = pairs_between_separators(16);
  const Platform platform(
      {{"a", "gpu", 0, 1, 8000, ""}, {"c0", "cpu", 1, 1, 0, ""}, {"c1", "cpu", 1, 1, 0, ""}});
  const CostModel costs = CostModel::from_graph(graph, platform);
  EXPECT_EQ(lower_bound(graph, costs).name, "modules");
  for (const LowerBound& bound : all_bounds(graph, costs)) {
    if (bound.name == "modules") {
      EXPECT_LE(bound.ms, 17 + 8 * 5 + 8 * 8);
      EXPECT_GT(bound.ms, 120.8);
    } else {
      EXPECT_LT(bound.ms, 110) << bound.name;
    }
  }
}

// Both operators of each module gain from the one accelerator, which runs them one after the other.
TEST(ModulesBound, ChainsOfAModuleShareADevice) {
  Graph graph = pairs_between_separators(16);
  std::vector<Operator> operators(graph.operators().begin(), graph.operators().end());
  for (std::size_t i = 0; i < operators.size(); ++i) {
    if (i % 3 != 0) operators[i].time_by_device = {{"gpu", 3}, {"cpu", 5}};
  }
  graph = Graph("same", operators, {graph.edges().begin(), graph.edges().end()});
  const Platform platform({{"a", "gpu", 0, 1, 0, ""}, {"c", "cpu", 1, 1, 0, ""}});
  const double bound = lower_bound(graph, CostModel::from_graph(graph, platform)).ms;
  EXPECT_LE(bound, 17 + 16 * 5);
  EXPECT_GT(bound, 17 + 16 * 3.7) << "two operators of 3 ms, or 5 ms, on two devices";
}

TEST(ModulesBound, NothingWhereMemoryExcludesAllSchedules) {
  const Graph graph = pairs_between_separators(4);
  const Platform platform({{"a", "gpu", 0, 1, 2000, ""}, {"c", "cpu", 1, 1, 2000, ""}});
  for (const LowerBound& bound : all_bounds(graph, CostModel::from_graph(graph, platform))) {
    if (bound.name != "modules") continue;
    EXPECT_EQ(bound.ms, 0);
  }
}

/// Returns two modules of two operators each and the separator between them. There may be one
/// before or after them, and edges over it. Costs and devices are those of the random problem;
/// transfers take up to twice the mean operator.
RandomProblem two_forks(const std::string& words, int streams, bool before, bool after,
                        std::uint64_t seed) {
  const std::size_t n = 5 + (before ? 1 : 0) + (after ? 1 : 0), x = before ? 1 : 0;
  const RandomDag parameters =
      parse_random_dag("family=independent,n=" + std::to_string(n) + "," + words);
  RandomProblem made =
      random_problem(parameters, test::devices(parameters.devices.speeds.size(), streams));
  Random random(seed, "forks");
  double sum = 0;
  const CostModel costs = CostModel::from_graph(made.graph, made.platform);
  for (std::size_t v = 0; v < n; ++v) sum += costs.mean_operator_ms(OpId(v));
  std::vector<Edge> edges;
  const auto add = [&](std::size_t from, std::size_t to) {
    edges.push_back(
        Edge{OpId(from), OpId(to), 0, random.uniform(0, 2 * sum / static_cast<double>(n))});
  };
  for (const std::size_t v : {x, x + 1}) {
    if (before) add(0, v);
    add(v, x + 2);
    add(x + 2, v + 3);
    if (after) add(v + 3, n - 1);
  }
  if (before && seed % 4 == 0) add(0, x + 2);
  if (seed % 3 == 0) add(x, x + 3);
  made.graph = Graph("forks", {made.graph.operators().begin(), made.graph.operators().end()}, edges,
                     made.graph.stage_cost());
  return made;
}

TEST(ModulesBound, AgainstBruteForceOnUnlikeDevices) {
  const char* devices[] = {"speeds=1:0.4,spread=0.5,memory=1.05",
                           "speeds=1:0.1,spread=0.3,memory=1.2,colocate=0.3",
                           "speeds=1:0.05,spread=0.5,allowed=0.3", "speeds=1:0.5,spread=1",
                           "speeds=1:0.3:0.3,memory=1.1"};
  double sum = 0;
  int found = 0;
  for (std::uint64_t seed = 0; seed < test::tries(500u); ++seed) {
    const std::string words = std::string(devices[seed % 5]) + ",seed=" + std::to_string(seed);
    SCOPED_TRACE(words);
    const bool three_devices = seed % 5 == 4;
    const Parts parts(two_forks(words, 1 + static_cast<int>(seed / 5 % 3),
                                !three_devices && seed % 3 == 0, !three_devices && seed % 3 == 1,
                                seed));
    const double best = test::brute_force(parts.graph, parts.platform,
                                          test::plain_costs_of(parts.graph, parts.platform))
                            .latency_ms;
    const double bound = modules_ms(parts.whole, parts.context, best / 4);
    ASSERT_LE(bound, best * (1 + test::kOracleRounding));
    ASSERT_LE(lower_bound(parts.graph, parts.model).ms, best * (1 + test::kOracleRounding));
    if (bound <= 0) continue;
    sum += best / bound;
    ++found;
  }
  RecordProperty("problems", std::to_string(found));
  RecordProperty("mean", std::to_string(sum / found));
  EXPECT_GT(found, test::tries(400));
  EXPECT_LT(sum / found, 1.4);
}

/// Returns, by operator, its module; separators have that before them, as their exit.
std::vector<std::size_t> module_of(const std::vector<ChainModule>& modules, std::size_t operators) {
  std::vector<std::size_t> result(operators, 0);
  for (std::size_t m = 0; m < modules.size(); ++m) {
    for (const ModuleChain& chain : modules[m].chains) {
      for (std::uint32_t v : chain.operators) result[v] = m;
    }
    if (modules[m].exit) result[*modules[m].exit] = m;
  }
  return result;
}

/// Returns the sum that ModulePlacement minimizes, by the graph's edges rather than by chains.
double sum_of_placement(const ClassCosts& costs, const std::vector<ChainModule>& modules,
                        const ModulePrices& prices, const std::vector<std::size_t>& on) {
  const std::vector<std::size_t> module = module_of(modules, costs.operators);
  std::vector<double> end(costs.operators, 0), length(modules.size(), 0);
  std::vector<bool> separates(costs.operators, false);
  for (const ChainModule& own : modules) {
    if (own.entry) separates[*own.entry] = true;
    if (own.exit) separates[*own.exit] = true;
  }
  double sum = 0;
  for (std::size_t v = 0, e = 0; v < costs.operators; ++v) {
    const std::size_t cell = costs.cell(v, on[v]), m = module[v];
    for (; e < costs.edges.size() && costs.edges[e].to == v; ++e) {
      const ClassEdge& edge = costs.edges[e];
      const bool inside =
          separates[edge.from] ? modules[m].entry == edge.from : module[edge.from] == m;
      if (edge.must_share && on[edge.from] != on[v]) sum = std::numeric_limits<double>::infinity();
      const double from = separates[edge.from] ? 0 : end[edge.from];
      if (inside) end[v] = std::max(end[v], from + costs.transfer_ms(edge, on[edge.from], on[v]));
    }
    sum += prices.price_ms[cell];
    if (separates[v]) {
      if (modules[m].exit == v) length[m] = std::max(length[m], end[v]);
      sum += costs.path_ms[cell];
    } else {
      end[v] += costs.path_ms[cell];
      length[m] = std::max(length[m], end[v]);
    }
  }
  for (std::size_t m = 0; m < modules.size(); ++m) sum += prices.path_part[m] * length[m];
  return sum;
}

/// Compares the minimum with all placements; returns the mean of the minimum over their best.
double compare_with_all_placements(const std::string& family, bool is_exact) {
  double ratios = 0;
  const std::uint64_t problems = test::tries(40u);
  for (std::uint64_t seed = 0; seed < problems; ++seed) {
    const std::string words = family + ",speeds=1:0.3:0.2,spread=0.6,seed=" + std::to_string(seed) +
                              (seed % 3 == 0 ? ",colocate=0.3" : "") +
                              (seed % 4 == 0 ? ",allowed=0.2" : "");
    SCOPED_TRACE(words);
    const Parts parts(random_problem(parse_random_dag(words), test::devices(3, 1)));
    const auto costs = class_costs(parts.whole, parts.context);
    if (!costs) {
      ADD_FAILURE() << "devices are alike";
      return 0;
    }
    const std::size_t n = costs->operators, classes = costs->classes();
    const std::vector<ChainModule> modules = chain_modules(parts.graph, parts.whole, *costs);
    Random random(seed, "prices");
    ModulePrices prices;
    for (std::size_t i = 0; i < n * classes; ++i) prices.price_ms.push_back(random.uniform(0, 3));
    for (std::size_t m = 0; m < modules.size(); ++m) {
      prices.path_part.push_back(random.uniform(0, 1));
    }
    std::size_t placements = 1;
    for (std::size_t v = 0; v < n; ++v) placements *= classes;
    double best = std::numeric_limits<double>::infinity();
    std::vector<std::size_t> on(n);
    for (std::size_t code = 0; code < placements; ++code) {
      for (std::size_t v = 0, rest = code; v < n; ++v, rest /= classes) on[v] = rest % classes;
      best = std::min(best, sum_of_placement(*costs, modules, prices, on));
    }
    ModulePlacement placement(*costs, modules);
    double work = 1e9, before = 0;
    for (const std::size_t most_labels : {std::size_t{2}, std::size_t{8}, std::size_t{1000}}) {
      const std::optional<double> least =
          placement.least_ms(prices, most_labels, parts.deadline, work);
      if (!least) ADD_FAILURE() << "no work is left";
      EXPECT_LE(*least, best * (1 + 1e-9)) << most_labels;
      before = *least;
    }
    const PlacedModules placed = placement.placed();
    on.assign(placed.classes.begin(), placed.classes.end());
    if (is_exact) {
      EXPECT_NEAR(before, best, 1e-9 * best);
      EXPECT_NEAR(sum_of_placement(*costs, modules, prices, on), best, 1e-9 * best);
    }
    ratios += before / best;
  }
  return ratios / static_cast<double>(problems);
}

TEST(ModulePlacement, IsTheBestOfAllWithChains) {
  compare_with_all_placements("family=forkjoin,width=2,n=8", true);
  compare_with_all_placements("family=forkjoin,width=3,n=8", true);
}

TEST(ModulePlacement, IsBelowAllPlacementsOfOtherGraphs) {
  EXPECT_GT(compare_with_all_placements("layers=4,n=8,edges=12", false), 0.6);
  EXPECT_GT(compare_with_all_placements("family=two-terminal,layers=5,n=8,edges=12", false), 0.6);
}

PathLabels random_labels(Random& random) {
  PathLabels labels, none, merged;
  for (std::uint64_t i = 1 + random.below(12); i > 0; --i) {
    labels.assign(1, {static_cast<double>(random.below(20)), random.uniform(0, 9), 0});
    merge_labels(none, labels, 0, merged);
    none.swap(merged);
  }
  return none;
}

/// Returns the least price of a label that is not longer, or infinity.
double least_price(const PathLabels& labels, double length_ms) {
  double least = std::numeric_limits<double>::infinity();
  for (const PathLabel& label : labels) {
    if (label.length_ms <= length_ms) least = std::min(least, label.price_ms);
  }
  return least;
}

TEST(PathLabels, AreMergedJoinedAndLimited) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "labels");
    const PathLabels a = random_labels(random), b = random_labels(random);
    PathLabels merged, joined, limited = a;
    merge_labels(a, b, 2, merged);
    join_labels(a, b, joined);
    const std::size_t most = 1 + random.below(5);
    limit_labels(limited, most);
    EXPECT_LE(limited.size(), most);
    for (double length = 0; length < 24; ++length) {
      EXPECT_EQ(least_price(merged, length),
                std::min(least_price(a, length), least_price(b, length - 2)));
      EXPECT_EQ(least_price(joined, length), least_price(a, length) + least_price(b, length));
      EXPECT_LE(least_price(limited, length), least_price(a, length));
    }
    for (const PathLabels* labels : {&merged, &joined, &limited}) {
      for (std::size_t i = 1; i < labels->size(); ++i) {
        EXPECT_LT((*labels)[i - 1].length_ms, (*labels)[i].length_ms);
        EXPECT_GT((*labels)[i - 1].price_ms, (*labels)[i].price_ms);
      }
    }
  }
}

}  // namespace
}  // namespace hios::scheduler
