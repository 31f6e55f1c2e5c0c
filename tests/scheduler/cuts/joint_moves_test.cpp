// Cuts and devices that are changed together, against brute force over all cuts, devices, orders
// and stages of networks of four operators.
#include "scheduler/cuts/joint_moves.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "hios/base/error.h"
#include "hios/evaluate/simulate.h"
#include "hios/evaluate/validate.h"
#include "scheduler/registry.h"
#include "support/graphs/cuttable.h"
#include "support/sanitized.h"

namespace hios::scheduler {
namespace {

using test::Cuttable;

/// Returns the schedule that an algorithm makes of the network with these cuts.
CutSchedule scheduled(const CuttableProblem& problem, const Taken& taken, const char* name) {
  CutSchedule made{.taken = taken, .cut = cut_network(problem, cuts_of(problem, taken))};
  const Algorithm& algorithm = built_in().find(name);
  Context context;
  context.bound = LowerBound{0, "none"};
  const ScheduleResult result =
      algorithm.run(Problem(*made.cut.costs), Options(algorithm.options), context);
  made.schedule = result.schedule;
  made.latency_ms = result.latency_ms;
  return made;
}

/// Fails unless a schedule is one of the network with its cuts.
void expect_valid(const Cuttable& cuttable, const CutSchedule& made) {
  EXPECT_TRUE(validate(made.cut.graph(), cuttable.platform, made.schedule).empty());
  EXPECT_DOUBLE_EQ(made.latency_ms,
                   simulate(made.cut.graph(), made.schedule, *made.cut.costs).latency_ms);
  EXPECT_EQ(made.cut.network->cuts, cuts_of(cuttable.problem, made.taken));
}

TEST(JointMoves, AreNeverWorseThanTheirStartNorBetterThanBruteForce) {
  std::size_t improved = 0, at_optimum = 0;
  for (std::uint64_t seed = 0; seed < test::tries(30u); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Cuttable cuttable(seed, seed % 2 == 0 ? 0 : 0.8);
    std::vector<CutSchedule> results;
    double shortest = std::numeric_limits<double>::infinity();
    for (const bool cut : {false, true}) {
      const Taken taken(cuttable.problem.candidates.size(), cut);
      const CutSchedule start = scheduled(cuttable.problem, taken, cut ? "heft" : "sequential");
      CutSchedule made = start;
      const bool moved = move_together(cuttable.problem, {}, made);
      EXPECT_EQ(moved, made.latency_ms < start.latency_ms || made.taken != start.taken);
      EXPECT_LE(made.latency_ms, start.latency_ms);
      expect_valid(cuttable, made);
      improved += made.latency_ms < start.latency_ms ? 1 : 0;
      shortest = std::min(shortest, made.latency_ms);
      results.push_back(std::move(made));
    }
    const double optimum = test::optimum_of_any_cuts(cuttable, test::just_above(shortest));
    EXPECT_LE(optimum, test::just_above(shortest)) << "shorter than any schedule of any cuts";
    for (const CutSchedule& made : results) {
      at_optimum += made.latency_ms <= test::just_above(optimum) ? 1 : 0;
    }
  }
  EXPECT_GT(improved, 0u);
  EXPECT_GT(at_optimum, 0u);
}

TEST(JointMoves, MakeOperatorsWholeThatAreNotWorthTheirCut) {
  Cuttable cuttable(3);
  cuttable.transfer_ms = 100;
  const CutSchedule start =
      scheduled(cuttable.problem, Taken(cuttable.problem.candidates.size(), true), "sequential");
  CutSchedule made = start;
  EXPECT_TRUE(move_together(cuttable.problem, {}, made));
  EXPECT_EQ(std::ranges::count(made.taken, true), 0);
  expect_valid(cuttable, made);
}

TEST(JointMoves, ChangeNothingWithoutTimeOrCosts) {
  Cuttable cuttable(4);
  const CutSchedule start =
      scheduled(cuttable.problem, Taken(cuttable.problem.candidates.size(), false), "sequential");
  CutSchedule made = start;
  EXPECT_FALSE(move_together(cuttable.problem, Deadline([] { return true; }), made));
  cuttable.problem.make_costs = [](const Graph&) -> CostModel { throw InputError("not measured"); };
  EXPECT_FALSE(move_together(cuttable.problem, {}, made));
  EXPECT_EQ(made.taken, start.taken);
  EXPECT_EQ(made.schedule, start.schedule);
}

}  // namespace
}  // namespace hios::scheduler
