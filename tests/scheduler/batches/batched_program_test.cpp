#include "scheduler/batches/batched_program.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "hios/evaluate/simulate.h"
#include "hios/evaluate/validate.h"
#include "scheduler/batches/divided_case.h"
#include "scheduler/batches/each_operator.h"
#include "support/sanitized.h"

namespace hios::scheduler {
namespace {

/// The least latency over all shares of the inputs among two devices, each operator with at most
/// one batch on either, by brute force over the orders: batches wait for all batches of their
/// predecessors, as in the program.
class AllShares {
 public:
  explicit AllShares(const DividedCase& one) : one_(one), choice_(one.graphs.whole()->size(), 0) {}

  double least_ms() {
    extend(0);
    return least_ms_;
  }

 private:
  /// Choices of an operator: the inputs of device 0, and which device has the first ones.
  void extend(std::size_t op) {
    if (op == choice_.size()) return judge();
    const auto inputs = static_cast<std::size_t>(one_.graphs.inputs());
    for (choice_[op] = 0; choice_[op] < 2 * inputs; ++choice_[op]) extend(op + 1);
  }

  void judge() {
    std::vector<Batch> batches;
    std::vector<std::size_t> device;
    const std::int64_t inputs = one_.graphs.inputs();
    for (std::size_t op = 0; op < choice_.size(); ++op) {
      const auto cut = static_cast<std::int64_t>(choice_[op] / 2);
      const std::size_t first = choice_[op] % 2;
      if (cut > 0) {
        batches.push_back({OpId(op), {0, cut}});
        device.push_back(first);
      }
      batches.push_back({OpId(op), {cut, inputs}});
      device.push_back(1 - first);
    }
    try {
      judge(divide(one_.graphs, batches), device);
    } catch (const InputError&) {  // no device runs this size
    }
  }

  void judge(const Graph& divided, const std::vector<std::size_t>& device) {
    std::vector<Operator> operators(divided.operators().begin(), divided.operators().end());
    for (std::size_t v = 0; v < device.size(); ++v) {
      operators[v].allowed = {"gpu" + std::to_string(device[v])};
    }
    std::vector<Edge> edges(divided.edges().begin(), divided.edges().end());
    for (const Edge& edge : one_.graphs.whole()->edges()) {
      for (std::size_t a = 0; a < device.size(); ++a) {
        for (std::size_t b = 0; b < device.size(); ++b) {
          if (divided.batch(OpId(a)).op != edge.from || divided.batch(OpId(b)).op != edge.to) {
            continue;
          }
          edges.push_back({OpId(a), OpId(b), 0, 0.0});
        }
      }
    }
    const Graph graph("shares", std::move(operators), std::move(edges), divided.stage_cost());
    const auto costs = test::plain_costs_of(graph, one_.platform);
    const auto found =
        test::brute_force(graph, one_.platform, costs, test::Pruning::kBounds, least_ms_);
    least_ms_ = std::min(least_ms_, found.latency_ms);
  }

  const DividedCase& one_;
  std::vector<std::size_t> choice_;  // by operator
  double least_ms_ = std::numeric_limits<double>::infinity();
};

TEST(BatchedProgram, FindsTheBestOfAllShares) {
  std::size_t found = 0, shorter = 0;
  for (const milp::Solver& solver : milp::solvers()) {
    for (std::uint64_t seed = 0; seed < test::tries(24u); ++seed) {
      SCOPED_TRACE(solver.name + ", seed " + std::to_string(seed));
      Random random(seed, "shares");
      const DividedCase one(2 + seed % 2, 2 + static_cast<std::int64_t>(seed % 3 == 0), 2, random);
      const double least_ms = AllShares(one).least_ms();
      const double below_ms = std::min(1000.0, least_ms * 1.5);
      const auto result = solve_batched(one.problem(), solver, below_ms, {});
      ASSERT_TRUE(result.has_value());
      EXPECT_TRUE(result->proved);
      ASSERT_EQ(result->made.has_value(), std::isfinite(least_ms));
      if (!result->made) continue;
      ++found;
      EXPECT_NEAR(result->program_ms, least_ms, 1e-5 * least_ms);
      EXPECT_LE(result->made->latency_ms, least_ms * (1 + 1e-5));
      const Graph& graph = *result->made->division.graph;
      EXPECT_TRUE(validate(graph, one.platform, result->made->schedule).empty());
      const auto rule = divide_by_any(one.problem(), {});
      shorter += !rule || result->made->latency_ms < rule->latency_ms * 0.999;
      const auto better = divide_by_program(one.problem(), {});
      ASSERT_TRUE(!rule || better.has_value());
      if (rule) {
        EXPECT_LE(better->latency_ms, rule->latency_ms);
      }
    }
  }
  if (milp::solvers().empty() || test::kSanitized) return;  // few cases, or none
  EXPECT_GT(found, 10u);
  EXPECT_GT(shorter, 3u);
}

TEST(BatchedProgram, RefusesLargeProgramsAndProvesThatNoneIsShorter) {
  if (milp::solvers().empty()) return;  // minimal builds have no solver
  Random random(1, "large program");
  const DividedCase large(40, 4, 3, random);
  EXPECT_FALSE(solve_batched(large.problem(), milp::solvers().front(), 1000, {}).has_value());
  const DividedCase small(3, 2, 2, random);
  const auto result = solve_batched(small.problem(), milp::solvers().front(), 1e-3, {});
  ASSERT_TRUE(result.has_value());
  EXPECT_TRUE(result->proved);
  EXPECT_FALSE(result->made.has_value());
}

TEST(BatchedProgram, KeepsLabelsTogether) {
  if (milp::solvers().empty()) return;  // minimal builds have no solver
  for (std::uint64_t seed = 0; seed < test::tries(10u); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "labelled shares");
    Graph graph = random_sized_graph(4, 2, 2, random);
    std::vector<Operator> operators(graph.operators().begin(), graph.operators().end());
    operators[0].colocate = operators[2].colocate = "same";
    graph =
        Graph("labels", std::move(operators), {graph.edges().begin(), graph.edges().end()}, {}, 2);
    const Platform platform = test::devices(2, 1);
    const SizedGraphs graphs(graph, batch_sizes(2, std::int64_t{2}));
    const DivisibleProblem problem{
        &graphs, &platform, [&](const Graph& g) { return CostModel::from_graph(g, platform); }};
    const auto result = solve_batched(problem, milp::solvers().front(), 1000, {});
    ASSERT_TRUE(result.has_value());
    ASSERT_TRUE(result->made.has_value());
    EXPECT_TRUE(validate(*result->made->division.graph, platform, result->made->schedule).empty());
  }
}

}  // namespace
}  // namespace hios::scheduler
