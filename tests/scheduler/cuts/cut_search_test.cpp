// Cuts that a search chooses, against brute force over all cuts, devices, orders and stages of
// networks of four operators.
#include "scheduler/cuts/cut_search.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "hios/base/error.h"
#include "hios/evaluate/validate.h"
#include "hios/graph/cuts/even_cuts.h"
#include "scheduler/registry.h"
#include "support/graphs/cuttable.h"
#include "support/sanitized.h"

namespace hios::scheduler {
namespace {

using test::Cuttable, test::just_above, test::optimum, test::optimum_of_any_cuts;

constexpr std::int64_t kTwoShards[] = {1, 1};

CutResult searched(const CuttableProblem& problem, const Algorithm& algorithm,
                   const Options& options) {
  Context context;
  context.bound = lower_bound(problem.costs->graph(), *problem.costs);
  const std::array quick = {&built_in().find("hios-lp"), &built_in().find("heft")};
  return schedule_cut(problem, algorithm, options, quick, context);
}

CutResult searched(const CuttableProblem& problem, const char* name) {
  const Algorithm& algorithm = built_in().find(name);
  Options options(algorithm.options);
  if (options.has("iterations")) options.set("iterations=200");
  return searched(problem, algorithm, options);
}

TEST(CutSearch, IsNeverBetterThanBruteForceNorWorseThanTheWhole) {
  std::size_t cut = 0;
  for (std::uint64_t seed = 0; seed < test::tries(40u); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Cuttable cuttable(seed, seed % 2 == 0 ? 0 : 0.8);
    ASSERT_EQ(cuttable.problem.candidates.size(), 4u);
    std::vector<CutResult> results;
    for (const char* name : {"hios-lp", "heft", "best"}) {
      results.push_back(searched(cuttable.problem, name));
    }
    double shorter = results[0].result.latency_ms;
    for (const CutResult& made : results) shorter = std::min(shorter, made.result.latency_ms);
    EXPECT_LE(optimum_of_any_cuts(cuttable, just_above(shorter)), just_above(shorter))
        << "shorter than any schedule of any cuts";
    for (const CutResult& made : results) {
      SCOPED_TRACE(made.result.latency_ms);
      const double whole_ms = made.whole.latency_ms;
      EXPECT_LE(made.result.latency_ms, whole_ms);
      EXPECT_LE(made.whole.lower_bound_ms,
                just_above(optimum(*cuttable.whole_costs, just_above(whole_ms))));
      if (made.network == nullptr) continue;
      ++cut;
      EXPECT_LE(made.result.latency_ms, 0.99 * whole_ms) << "gains too little";
      EXPECT_LE(made.result.lower_bound_ms,
                just_above(optimum(*made.costs, just_above(made.result.latency_ms))));
      EXPECT_TRUE(
          validate(made.network->coarse.graph, cuttable.platform, made.result.schedule).empty());
      EXPECT_EQ(made.network->cuts, made.cuts);
    }
  }
  EXPECT_GT(cut, 0u);
}

TEST(CutSearch, GivesTheSameResultEachTime) {
  Cuttable cuttable(1);
  for (const char* name : {"hios-lp", "best"}) {
    const CutResult once = searched(cuttable.problem, name),
                    again = searched(cuttable.problem, name);
    EXPECT_EQ(once.cuts, again.cuts);
    EXPECT_EQ(once.result.schedule, again.result.schedule);
  }
}

// Such a search takes its time for each network.
TEST(CutSearch, RunsAnAlgorithmOfManyIterationsForTheWholeAndForTheCutNetworkAlone) {
  std::size_t cut = 0;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Cuttable cuttable(seed);
    Algorithm counted = built_in().find("annealing");
    std::size_t runs = 0;
    counted.run = [&, run = counted.run](const Problem& problem, const Options& options,
                                         const Context& context) {
      ++runs;
      return run(problem, options, context);
    };
    Options options(counted.options);
    options.set("iterations=50");
    const CutResult made = searched(cuttable.problem, counted, options);
    EXPECT_LE(runs, 2u);
    EXPECT_GE(runs, made.network == nullptr ? 1u : 2u);
    cut += made.network == nullptr ? 0 : 1;
  }
  EXPECT_GT(cut, 0u);
}

TEST(CutSearch, GivesAnAlgorithmTheTimeThatTheSearchLeaves) {
  Cuttable cuttable(1);
  cuttable.transfer_ms = 100;  // nothing is cut
  for (const bool improves : {false, true}) {
    Algorithm timed = built_in().find(improves ? "best" : "annealing");
    std::vector<double> seconds;
    timed.run = [&, run = timed.run](const Problem& problem, const Options& options,
                                     const Context& context) {
      seconds.push_back(context.deadline.seconds_left());
      return run(problem, options, context);
    };
    Options options(timed.options);
    options.set("iterations=50");
    Context context;
    context.deadline = Deadline(
        {}, [] { return 0.0; }, 10);
    const std::array quick = {&built_in().find("heft")};
    const CutResult made = schedule_cut(cuttable.problem, timed, options, quick, context);
    EXPECT_EQ(made.network, nullptr);
    ASSERT_FALSE(seconds.empty());
    EXPECT_DOUBLE_EQ(seconds.front(), improves ? 8 : 10);  // of it, some is for move_together()
  }
}

TEST(CutSearch, CutsNothingWhereCostsOfShardsAreMissing) {
  Cuttable cuttable(2);
  cuttable.problem.make_costs = [](const Graph&) -> CostModel { throw InputError("not measured"); };
  const CutResult made = searched(cuttable.problem, "hios-lp");
  EXPECT_EQ(made.network, nullptr);
  EXPECT_EQ(made.result.latency_ms, made.whole.latency_ms);
}

TEST(EvenCuts, AreOfOperatorsThatCanBeCut) {
  ModelBuilder net("some", {1, 16, 35, 10});
  const TensorId a = net.conv("a", net.input(), {16, {3, 3}, {1, 1}, {1, 1}});
  const TensorId b = net.conv("b", a, {16, {1, 1}, {1, 1}, {0, 0}});
  const TensorId low = net.conv("low", b, {16, {33, 1}, {1, 1}, {0, 0}});
  net.global_average_pool("mean", net.sum("twice", {low, low}));
  net.keep_layer_names();
  const Network network(std::move(net).build());
  const Cuts cuts = even_cuts(network.model, network.coarse, kTwoShards);
  ASSERT_EQ(cuts.size(), 2u);
  EXPECT_EQ(cuts[0], (Cut{.op = "a", .at = {16}}));  // a multiple of four
  EXPECT_EQ(cuts[1], (Cut{.op = "b", .at = {18}}));
  const auto rows_of_b = [&](const std::vector<std::int64_t>& shares) {
    return even_cuts(network.model, network.coarse, shares)[1].at;
  };
  EXPECT_EQ(rows_of_b({1, 1, 1, 1}), (std::vector<std::int64_t>{9, 18, 27}));
  EXPECT_EQ(rows_of_b({2, 1}), std::vector<std::int64_t>{23});
  EXPECT_EQ(rows_of_b({1, 2, 2}), (std::vector<std::int64_t>{7, 21}));
  EXPECT_EQ(even_cuts(network.model, network.coarse, std::vector<std::int64_t>{2, 1})[0].at,
            std::vector<std::int64_t>{24});
}

TEST(EvenCuts, AreIntoAsManyShardsAsRowsAllow) {
  ModelBuilder net("some", {1, 16, 13, 10});
  const TensorId a = net.conv("a", net.input(), {16, {3, 3}, {1, 1}, {1, 1}});
  const TensorId b = net.conv("b", a, {16, {1, 1}, {1, 1}, {0, 0}});
  net.conv("low", b, {16, {12, 1}, {1, 1}, {0, 0}});  // two rows: one shard alone has two
  net.keep_layer_names();
  const Network network(std::move(net).build());
  const Cuts cuts = even_cuts(network.model, network.coarse, std::vector<std::int64_t>(8, 1));
  ASSERT_EQ(cuts.size(), 2u);
  EXPECT_EQ(cuts[0], (Cut{.op = "a", .at = {4, 8}}));
  EXPECT_EQ(cuts[1], (Cut{.op = "b", .at = {2, 4, 6, 8, 10}}));
}

}  // namespace
}  // namespace hios::scheduler
