// The bound of every keeping: by hand, and against brute force over keepings and cold starts.
#include "scheduler/cold/shared/keeping_bound.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "hios/base/numbers/random.h"
#include "hios/evaluate/simulate.h"
#include "hios/evaluate/validate.h"
#include "scheduler/scheduler.h"
#include "support/graphs/cold_cases.h"
#include "support/graphs/dag_generator.h"
#include "support/graphs/served_models.h"
#include "support/oracles/cold/keeping_brute_force.h"
#include "support/sanitized.h"

namespace hios::scheduler::cold {
namespace {

using test::served_chain;
using test::served_platform;
using test::ServedModels;

constexpr Bytes kBoundMillion = 1'000'000;
constexpr double kRoundingOfKeeping = 1e-6;
constexpr double kSlackOfMixes = 0.01;

// Loads of 1 ms a MB; a single operator each, so that all of the load is waited for.
TEST(KeepingBound, KeepsWhatSavesMostAByte) {
  const ServedModels served(
      {served_chain("a", {{1, 4 * kBoundMillion}}), served_chain("b", {{1, 4 * kBoundMillion}})},
      served_platform({0}), {3, 1});
  const auto bound = [&](Bytes keep) { return keeping_bound_ms(served.server(keep), {}); };
  EXPECT_NEAR(bound(0), 5, kRoundingOfKeeping);
  EXPECT_NEAR(bound(3 * kBoundMillion), 5, kRoundingOfKeeping) << "no set fits";
  EXPECT_NEAR(bound(4 * kBoundMillion), 0.75 * 1 + 0.25 * 5, kRoundingOfKeeping);
  EXPECT_NEAR(bound(6 * kBoundMillion), 0.75 * 1 + 0.25 * 3, kRoundingOfKeeping) << "half of b";
  EXPECT_NEAR(bound(8 * kBoundMillion), 1, kRoundingOfKeeping);
  EXPECT_NEAR(bound(std::numeric_limits<Bytes>::max()), 1, kRoundingOfKeeping);
}

// Both read the same 4 MB, which are kept once.
TEST(KeepingBound, CountsSharedParametersOnce) {
  const ServedModels served({served_chain("a", {{1, 4 * kBoundMillion, "same"}}),
                             served_chain("b", {{1, 4 * kBoundMillion, "same"}})},
                            served_platform({0}), {1, 1});
  EXPECT_NEAR(keeping_bound_ms(served.server(4 * kBoundMillion), {}), 1, kRoundingOfKeeping);
}

// All 10 MB are waited for, or 8 of them where v0's are kept. With all kept, v0's 6 ms decide.
TEST(KeepingBound, IsTheTimeOfOperatorsWhereLoadsAreFew) {
  const ServedModels served(
      {served_chain("a", {{6, 2 * kBoundMillion}, {1, 4 * kBoundMillion}, {1, 4 * kBoundMillion}})},
      served_platform({0}), {1});
  const double all = keeping_bound_ms(served.server(0), {});
  EXPECT_NEAR(all, 10 + 1, kRoundingOfKeeping);
  EXPECT_NEAR(keeping_bound_ms(served.server(2 * kBoundMillion), {}), 8 + 1, kSlackOfMixes);
  EXPECT_NEAR(keeping_bound_ms(served.server(100 * kBoundMillion), {}), 8, kRoundingOfKeeping);
}

// The device has no room for both sets: v0's are evicted before v1's come.
TEST(KeepingBound, HoldsForColdStartsThatEvictWhatIsKept) {
  const ServedModels served({served_chain("a", {{1, 6 * kBoundMillion}, {1, 6 * kBoundMillion}})},
                            served_platform({8 * kBoundMillion}), {1});
  Schedule schedule =
      on_one_device(served.platform(), DeviceId(0), one_operator_stages({OpId(0), OpId(1)}));
  schedule.weights.emplace();
  schedule.weights->resident = {{OpId(0), DeviceId(0)}};
  schedule.weights->evictions = {{OpId(0), DeviceId(0), OpId(0)}};
  schedule.weights->lanes = {{{OpId(1), StoreId(0), DeviceId(0)}}};
  ASSERT_TRUE(
      validate(served.graph(0), served.platform(), schedule, Objective::kColdStart).empty());
  const double ms = simulate(served.graph(0), schedule, served.costs(0)).latency_ms;
  EXPECT_NEAR(ms, 1 + 6 + 1, kRoundingOfKeeping);
  const double bound = keeping_bound_ms(served.server(7 * kBoundMillion), {});
  EXPECT_LE(bound, ms);
  EXPECT_NEAR(bound, 5 + 1, kSlackOfMixes) << "a sixth of v1's is kept, too";
}

TEST(KeepingBound, AnExpiredDeadlineLeavesABound) {
  const ServedModels served({served_chain("a", {{1, 4 * kBoundMillion}})}, served_platform({0}),
                            {1});
  const double bound =
      keeping_bound_ms(served.server(4 * kBoundMillion), Deadline([] { return true; }));
  EXPECT_GT(bound, 0);
  EXPECT_LE(bound, 1);
}

/// Returns the graph under another name, whose reads in place are no faster than other runs, and
/// some of whose labels are those of a sibling.
Graph served_graph(const Graph& graph, const std::string& name, Random& random) {
  std::vector<Operator> operators(graph.operators().begin(), graph.operators().end());
  for (Operator& op : operators) {
    op.in_place_by_device.clear();
    if (op.in_place_ms) op.in_place_ms = *op.in_place_ms + op.time_ms;
    if (random.below(2) == 0) op.in_place_ms.reset();
    if (op.parameter_bytes == 0 || random.below(2) == 0) continue;
    op.parameter_bytes = 3 * kBoundMillion;
    op.parameters = "sibling " + op.name;
  }
  return Graph(name, std::move(operators), {graph.edges().begin(), graph.edges().end()},
               graph.stage_cost());
}

TEST(KeepingBound, IsNeverAboveTheBestOfAllKeepings) {
  std::size_t close = 0;
  for (std::uint64_t seed = 0; seed < test::tries(25u); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "keepings");
    const bool whole = random.below(2) == 0;
    std::vector<Graph> graphs;
    for (const char* name : {"a", "b"}) {
      const std::size_t n = 1 + random.below(3);
      const std::uint64_t edges = random.below(std::uint64_t{1} << (n * (n - 1) / 2));
      const test::CostStyle style{.overlap = false, .small_integers = whole};
      graphs.push_back(served_graph(
          test::with_parameters(test::dag(n, edges, style, random), whole, random), name, random));
    }
    const std::size_t devices = graphs[0].size() + graphs[1].size() > 4 ? 1 : 1 + random.below(2);
    const ServedModels served(std::move(graphs), test::random_topology(devices, 1, whole, random),
                              {1 + random.uniform(), 1});
    Bytes all = 0;
    const Server first = served.server(0);  // outlives the loop over its sets
    for (const SharedSet& set : first.sets()) all += set.size_bytes;
    const Server server = served.server(all / 4 * random.below(5));
    const double least_ms = test::least_expected_ms(server);
    const double bound_ms = keeping_bound_ms(server, {});
    EXPECT_LE(bound_ms, least_ms * (1 + 1e-12));
    close += bound_ms > 0.8 * least_ms;
  }
  EXPECT_GT(close, test::tries(5u));
}

}  // namespace
}  // namespace hios::scheduler::cold
