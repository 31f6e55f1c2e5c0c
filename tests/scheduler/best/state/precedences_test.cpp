// Orders of transfers in the search of `best`: precedences, the order that a schedule lists, and
// how far the search is from the best order.

#include "scheduler/best/state/precedences.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "hios/evaluate/simulate.h"
#include "hios/evaluate/validate.h"
#include "hios/schedule/assignment.h"
#include "hios/schedule/transfers.h"
#include "scheduler/best/best.h"
#include "scheduler/best/state/message_timing.h"
#include "support/graphs/dag_generator.h"
#include "support/oracles/brute_force.h"
#include "support/oracles/contended_brute_force.h"
#include "support/oracles/contended_orders.h"
#include "support/oracles/first_finding.h"
#include "support/sanitized.h"

namespace hios::scheduler::best {
namespace {

using test::first_finding;
using test::kOracleRounding;

hios::Contention contention_by_number(std::uint64_t number) {
  return number % 3 == 0 ? hios::Contention::kLink : hios::Contention::kPort;
}

TEST(Precedences, AreUndoneAsAWhole) {
  const PlannedTransfer a{OpId(0), DeviceId(1)}, b{OpId(1), DeviceId(1)}, c{OpId(2), DeviceId(0)};
  Precedences precedences;
  EXPECT_TRUE(precedences.add({a, b}));
  EXPECT_FALSE(precedences.add({a, b}));
  precedences.keep();
  EXPECT_TRUE(precedences.add({b, a})) << "in place of its reverse";
  ASSERT_EQ(precedences.size(), 1u);
  EXPECT_EQ(precedences.all()[0], (TransferPrecedence{b, a}));
  EXPECT_TRUE(precedences.add({b, c}));
  precedences.remove(0);
  ASSERT_EQ(precedences.size(), 1u);
  EXPECT_EQ(precedences.all()[0], (TransferPrecedence{b, c}));
  precedences.undo();
  ASSERT_EQ(precedences.size(), 1u);
  EXPECT_EQ(precedences.all()[0], (TransferPrecedence{a, b}));
  precedences.undo();
  EXPECT_EQ(precedences.size(), 1u) << "nothing to undo";
}

/// An order that a schedule lists survives as precedences: the latency is the list's.
TEST(Precedences, ImposeAnyOrder) {
  std::size_t tried = 0, needed = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "imposed");
    const Graph graph = test::random_graph(3 + random.below(10), 0.3, {}, random);
    const Platform platform =
        test::devices(2 + random.below(3), 2, contention_by_number(random.below(3)));
    const CostModel costs = CostModel::from_graph(graph, platform);
    Schedule schedule = test::random_schedule(graph, platform, random);
    schedule.transfers = transfers_of(graph, Assignment(graph.size(), schedule));
    for (std::size_t i = schedule.transfers.size(); i > 1; --i) {
      std::swap(schedule.transfers[i - 1], schedule.transfers[random.below(i)]);
    }
    if (!validate(graph, platform, schedule).empty()) continue;  // it deadlocks
    const SearchProblem problem(costs);
    StageCosts stage_costs(problem);
    Arrangement arrangement(problem, stage_costs, schedule);
    impose(arrangement, schedule.transfers);
    const Schedule again = schedule_with_order(arrangement);
    EXPECT_EQ(first_finding(graph, platform, again), "");
    Schedule listed = arrangement.schedule();  // groups of a stage may differ
    listed.transfers = schedule.transfers;
    EXPECT_NEAR(simulate(graph, again, costs).latency_ms, simulate(graph, listed, costs).latency_ms,
                1e-9);
    ++tried;
    needed += !arrangement.precedences().empty();
  }
  EXPECT_GT(tried, 100u);
  EXPECT_GT(needed, 50u);
}

/// Returns a graph whose edges take as long for each consumer of a tensor, mostly longer than an
/// operator. With `devices`, each operator may run on one of so many, or on two.
Graph with_tensors(std::size_t operators, std::size_t devices, Random& random) {
  const Graph drawn = test::random_graph(operators, 0.4, {}, random);
  std::vector<Operator> all(drawn.operators().begin(), drawn.operators().end());
  const auto any_device = [&] { return "gpu" + std::to_string(random.below(devices)); };
  for (Operator& op : all) {
    op.time_ms = random.uniform(0.5, 2);
    if (devices == 0) continue;
    op.allowed = {any_device()};
    if (random.below(3) == 0) op.allowed.push_back(any_device());
  }
  std::vector<double> sent_ms(operators);
  for (double& ms : sent_ms) ms = random.uniform(0.5, 2.5);
  std::vector<Edge> edges(drawn.edges().begin(), drawn.edges().end());
  for (Edge& edge : edges) edge.transfer_ms = sent_ms[edge.from.index()];
  return Graph("tensors", std::move(all), std::move(edges), {});
}

TEST(ContendedOrders, TheOraclesAgree) {
  for (std::uint64_t seed = 0; seed < test::tries(40u); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "both oracles");
    const Graph graph = with_tensors(3 + random.below(2), 0, random);
    const Platform platform = test::devices(2 + random.below(2), 1, contention_by_number(seed));
    const test::PlainCosts costs = test::plain_costs_of(graph, platform);
    EXPECT_NEAR(
        test::least_contended_ms(graph, platform, costs),
        test::contended_brute_force(graph, platform, costs, platform.contention()).any_order_ms,
        1e-9);
  }
}

/// Searches with so many moves, checks the schedule, and returns its latency if it is at most 1 %
/// above the best order; otherwise infinity.
double searched_ms(const CostModel& costs, std::int64_t moves, std::size_t& listed) {
  const Graph& graph = costs.graph();
  const Platform& platform = costs.platform();
  BestOptions options;
  options.iterations = moves;
  const BestResult found = search(graph, costs, options, 0, {});
  EXPECT_EQ(first_finding(graph, platform, found.schedule), "");
  const auto plain_costs = test::plain_costs_of(graph, platform);
  const auto slow =
      test::slow_latency_ms(graph, found.schedule, plain_costs, platform.contention());
  EXPECT_NEAR(found.latency_ms, slow.value_or(0), 1e-9);
  listed += !found.schedule.transfers.empty();
  const double limit_ms = found.latency_ms / 1.01;
  const double least_ms = test::least_contended_ms(graph, platform, plain_costs, limit_ms);
  const bool close = least_ms >= limit_ms * (1 - kOracleRounding);
  return close ? found.latency_ms : std::numeric_limits<double>::infinity();
}

/// 200 tiny problems: at most 1 % above the best order of operators and of transfers, nearly all
/// after few moves.
TEST(ContendedOrders, BestIsWithinOnePercentOfTheBestOrder) {
  std::size_t listed = 0, hard = 0;
  for (std::uint64_t seed = 0; seed < test::tries(200u); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "tiny, contended");
    const Graph graph = with_tensors(5 + random.below(3), 3, random);
    const Platform platform = test::devices(3, 1, contention_by_number(seed));
    const CostModel costs = CostModel::from_graph(graph, platform);
    if (std::isfinite(searched_ms(costs, 4000, listed))) continue;
    ++hard;
    EXPECT_TRUE(std::isfinite(searched_ms(costs, 100'000, listed)));
  }
  EXPECT_LE(hard, test::tries(200u) / 20);
  EXPECT_GT(listed, test::tries(200u) / 20) << "few orders matter: the problems are too easy";
}

}  // namespace
}  // namespace hios::scheduler::best
