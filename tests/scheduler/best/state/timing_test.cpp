#include "scheduler/best/state/timing.h"

#include <gtest/gtest.h>

#include "hios/evaluate/simulate.h"
#include "hios/evaluate/validate.h"
#include "hios/graph/random/random_dag.h"
#include "scheduler/best/moves/moves.h"
#include "scheduler/list/placement.h"
#include "scheduler/list/priorities.h"
#include "scheduler/list/timeline.h"
#include "support/graphs/dag_generator.h"
#include "support/graphs/tight_memory.h"
#include "support/sanitized.h"

// Arrangement, moves and timing together: thousands of random moves, some kept and some undone, all
// compared with a computation from scratch.

namespace hios::scheduler::best {
namespace {

struct Snapshot {
  std::vector<Slot> slot_of, sequence, before, after;
  std::vector<double> cost_ms;
  std::vector<Bytes> held_bytes;
  Bytes excess_bytes = 0;
  std::size_t overfull_devices = 0;
  bool operator==(const Snapshot&) const = default;
};

Snapshot snapshot_of(const Arrangement& arrangement) {
  Snapshot snapshot;
  for (std::size_t p = 0; p < arrangement.slots(); ++p) {
    const Slot slot = arrangement.at(p);
    EXPECT_EQ(arrangement.position(slot), p);
    snapshot.sequence.push_back(slot);
    snapshot.slot_of.push_back(arrangement.slot_of(OpId(p)));
    if (arrangement.empty(slot)) continue;
    snapshot.before.push_back(arrangement.before(slot));
    snapshot.after.push_back(arrangement.after(slot));
    snapshot.cost_ms.push_back(arrangement.cost_ms(slot));
  }
  for (std::size_t d = 0; d < arrangement.problem().devices(); ++d) {
    snapshot.held_bytes.push_back(arrangement.held_bytes(DeviceId(d)));
  }
  snapshot.excess_bytes = arrangement.excess_bytes();
  snapshot.overfull_devices = arrangement.overfull_devices();
  return snapshot;
}

void expect_equal_times(const Timing& timing, const Arrangement& arrangement) {
  const Timing scratch(arrangement);
  EXPECT_EQ(timing.latency_ms(), scratch.latency_ms());
  for (std::size_t p = 0; p < arrangement.slots(); ++p) {
    const Slot slot = arrangement.at(p);
    if (arrangement.empty(slot)) continue;
    EXPECT_EQ(timing.end_ms(slot), scratch.end_ms(slot)) << "position " << p;
    EXPECT_EQ(timing.tail_ms(slot), scratch.tail_ms(slot)) << "position " << p;
  }
}

/// Checks that the schedule respects all but memory, and memory if the arrangement says so.
void expect_valid_but_for_memory(const Arrangement& arrangement) {
  const SearchProblem& problem = arrangement.problem();
  const auto findings = validate(problem.graph(), problem.platform(), arrangement.schedule());
  for (const Finding& finding : findings) ASSERT_EQ(finding.rule, Rule::kMemory) << finding.text;
  ASSERT_EQ(findings.size(), arrangement.overfull_devices());
  Bytes excess = 0;
  for (std::size_t d = 0; d < problem.devices(); ++d) {
    excess += arrangement.excess_bytes(DeviceId(d));
  }
  ASSERT_EQ(arrangement.excess_bytes(), excess);
  ASSERT_EQ(excess > 0, !findings.empty());
}

/// Makes moves on one problem; compares each decision of update() with a latency from scratch. With
/// `exact_sums` (all times are integers), every other limit is the latency itself.
void walk(const CostModel& costs, const Schedule& start, Random& random, int moves,
          bool exact_sums = false) {
  const SearchProblem problem(costs);
  StageCosts stage_costs(problem);
  Arrangement arrangement(problem, stage_costs, start);
  Timing timing(arrangement);
  Moves proposals(arrangement, timing, random);
  for (int i = 0; i < moves; ++i) {
    const Snapshot before = snapshot_of(arrangement);
    if (!proposals.propose()) {
      arrangement.undo();
      ASSERT_EQ(snapshot_of(arrangement), before);
      continue;
    }
    const double truth = Timing(arrangement).latency_ms();
    const bool is_limit = exact_sums && i % 2 == 0;
    const double limit = is_limit ? truth : timing.latency_ms() * random.uniform(0.9, 1.3);
    const bool within = timing.update(limit);
    ASSERT_EQ(within, truth <= limit);
    ASSERT_TRUE(!within || timing.latency_ms() == truth);
    if (within && random.below(4) > 0) {
      timing.keep();
      arrangement.keep();
    } else {
      if (within) timing.undo();
      arrangement.undo();
      ASSERT_EQ(snapshot_of(arrangement), before);
    }
    expect_equal_times(timing, arrangement);
    const Schedule now = arrangement.schedule();
    expect_valid_but_for_memory(arrangement);
    const double simulated = simulate(costs.graph(), now, costs).latency_ms;
    ASSERT_NEAR(timing.latency_ms(), simulated, 1e-9 * simulated);
    if (::testing::Test::HasFailure()) return;
  }
}

/// Starts from one device, if the schedule is valid there.
void walk(const Graph& graph, const CostModel& costs, Random& random, int moves,
          bool exact_sums = false) {
  const Platform& platform = costs.platform();
  Schedule schedule;
  schedule.devices.resize(platform.size());
  schedule.devices.front() =
      one_operator_stages({graph.topological().begin(), graph.topological().end()});
  if (!validate(graph, platform, schedule).empty()) {
    schedule = test::random_schedule(graph, platform, random);
  }
  walk(costs, schedule, random, moves, exact_sums);
}

TEST(Timing, FollowsRandomMovesLikeAComputationFromScratch) {
  for (std::uint64_t seed = 0; seed < test::tries(60u); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "walk");
    test::CostStyle style;
    style.overlap = seed % 5 != 0;
    style.small_integers = seed % 3 == 0;
    const Graph graph = test::random_graph(5 + seed, 0.1, style, random);
    const Platform platform = test::devices(1 + seed % 4, 1 + static_cast<int>(seed % 3));
    walk(graph, CostModel::from_graph(graph, platform), random, 150,
         style.small_integers && !style.overlap);
    if (HasFailure()) return;
  }
}

/// Transfers that are worth moving several operators for (moves/cones.h).
TEST(Timing, FollowsMovesOfCones) {
  for (std::uint64_t seed = 0; seed < test::tries(40u); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "cones");
    const Graph graph = random_dag({.operators = 20 + 2 * seed,
                                    .p = random.uniform(5, 30),
                                    .seed = seed,
                                    .family = RandomDag::Family::kStencil,
                                    .width = 1 + random.below(8)});
    const Platform platform = test::devices(2 + seed % 3, 1 + static_cast<int>(seed % 2));
    walk(graph, CostModel::from_graph(graph, platform), random, 150);
    if (HasFailure()) return;
  }
}

TEST(Timing, FollowsMovesOnMeasuredStages) {
  for (std::uint64_t seed = 0; seed < test::tries(20u); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "measured walk");
    Graph graph = test::random_graph(12, 0.15, {}, random);
    const Platform platform = test::devices(2, 3);
    Profile profile = test::random_profile(graph, platform, random);
    if (seed % 2 == 1) profile.configurations.front().launch = {random.uniform(0, 2), 0, 30};
    walk(graph, CostModel::from_profile(graph, platform, profile), random, 150);
    if (HasFailure()) return;
  }
}

/// Problems with labels, devices that cannot run all, and memory that hardly suffices.
TEST(Timing, FollowsMovesThatOverfillDevices) {
  for (std::uint64_t seed = 0; seed < test::tries(40u); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "overfull walk");
    const test::TightProblem problem =
        test::tight_problem(5 + seed, 0.01 * static_cast<double>(seed % 4), seed);
    std::vector<Device> devices(problem.platform.devices().begin(),
                                problem.platform.devices().end());
    for (Device& device : devices) device.streams = 1 + static_cast<int>(random.below(3));
    const Platform platform(devices);
    const CostModel costs = CostModel::from_graph(problem.graph, platform);
    const auto packed = pack_operators(problem.graph, costs, "walk");
    walk(costs, list_schedule(problem.graph, costs, priority_order(problem.graph, costs), packed),
         random, 250);
    if (HasFailure()) return;
  }
}

TEST(Timing, ReorderingTheSequenceChangesNoTime) {
  for (std::uint64_t seed = 0; seed < test::tries(40u); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "reorder");
    test::CostStyle style;
    style.small_integers = seed % 2 == 0;
    const Graph graph = test::random_graph(30, 0.1, style, random);
    const Platform platform = test::devices(3, 3);
    const CostModel costs = CostModel::from_graph(graph, platform);
    const SearchProblem problem(costs);
    StageCosts stage_costs(problem);
    Arrangement arrangement(problem, stage_costs, test::random_schedule(graph, platform, random));
    Timing timing(arrangement);
    const Schedule before = arrangement.schedule();
    for (bool by_earliest : {true, false}) {
      std::vector<double> key(arrangement.slots(), 0);
      for (Slot slot = 0; slot < arrangement.slots(); ++slot) {
        if (arrangement.empty(slot)) continue;
        key[slot] =
            by_earliest ? timing.end_ms(slot) : -(timing.tail_ms(slot) + arrangement.cost_ms(slot));
      }
      arrangement.reorder(key);
      EXPECT_EQ(arrangement.schedule(), before);
      timing.recompute();
      expect_equal_times(timing, arrangement);
      EXPECT_DOUBLE_EQ(timing.latency_ms(), simulate(graph, before, costs).latency_ms);
    }
  }
}

}  // namespace
}  // namespace hios::scheduler::best
