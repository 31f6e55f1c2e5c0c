#include "scheduler/best/moves/neighbourhoods.h"

#include <gtest/gtest.h>

#include <optional>

#include "hios/evaluate/simulate.h"
#include "hios/evaluate/validate.h"
#include "hios/graph/random/random_dag.h"
#include "scheduler/best/annealing.h"
#include "scheduler/best/moves/moves.h"
#include "scheduler/best/state/timing.h"
#include "scheduler/list/placement.h"
#include "scheduler/list/priorities.h"
#include "scheduler/list/timeline.h"
#include "support/graphs/dag_generator.h"
#include "support/graphs/tight_memory.h"
#include "support/sanitized.h"

// A search confined to a neighbourhood of the sequence: its times are those of the whole schedule,
// and its result is a schedule of the whole.

namespace hios::scheduler::best {
namespace {

/// The arrangement's times, computed from scratch for the whole.
class FromScratch {
 public:
  explicit FromScratch(const Arrangement& arrangement)
      : stage_costs_(arrangement.problem()), whole_(arrangement, stage_costs_) {
    whole_.confine({0, whole_.slots()});
    timing_.emplace(whole_);
  }
  const Timing& operator*() const { return *timing_; }
  double longest_through(Neighbourhood neighbourhood) const {
    double longest = 0;
    for (std::size_t p = neighbourhood.first; p < neighbourhood.end; ++p) {
      const Slot slot = whole_.at(p);
      if (!whole_.empty(slot)) longest = std::max(longest, timing_->through_ms(slot));
    }
    return longest;
  }

 private:
  StageCosts stage_costs_;
  Arrangement whole_;
  std::optional<Timing> timing_;
};

void expect_times_from_scratch(const Timing& timing, const Arrangement& arrangement) {
  const FromScratch scratch(arrangement);
  const Neighbourhood neighbourhood = arrangement.neighbourhood();
  EXPECT_EQ(timing.latency_ms(), arrangement.confined() ? scratch.longest_through(neighbourhood)
                                                        : (*scratch).latency_ms());
  for (std::size_t p = neighbourhood.first; p < neighbourhood.end; ++p) {
    const Slot slot = arrangement.at(p);
    if (arrangement.empty(slot)) continue;
    ASSERT_EQ(timing.end_ms(slot), (*scratch).end_ms(slot)) << "position " << p;
    ASSERT_EQ(timing.tail_ms(slot), (*scratch).tail_ms(slot)) << "position " << p;
  }
}

void expect_findings_of_memory_alone(const Arrangement& arrangement) {
  const SearchProblem& problem = arrangement.problem();
  for (const Finding& finding :
       validate(problem.graph(), problem.platform(), arrangement.schedule())) {
    ASSERT_EQ(finding.rule, Rule::kMemory) << finding.text;
  }
}

/// The stages outside the neighbourhood, in order.
std::vector<Slot> outside(const Arrangement& arrangement) {
  std::vector<Slot> slots;
  for (std::size_t p = 0; p < arrangement.slots(); ++p) {
    if (!arrangement.neighbourhood().holds(p)) slots.push_back(arrangement.at(p));
  }
  return slots;
}

class Walk {
 public:
  Walk(const CostModel& costs, const Schedule& start, Random& random)
      : problem_(costs),
        stage_costs_(problem_),
        random_(random),
        now_(problem_, stage_costs_, start),
        kept_(now_),
        timing_(now_),
        proposals_(now_, timing_, random) {}

  void through_all_windows(std::size_t size) {
    reorder();
    kept_ = now_;
    const std::vector<Neighbourhood> neighbourhoods = neighbourhoods_of(now_, size, random_);
    ASSERT_EQ(neighbourhoods.front().first, 0u);
    ASSERT_EQ(neighbourhoods.back().end, now_.slots());
    std::size_t end = 0;
    for (const Neighbourhood& neighbourhood : neighbourhoods) {
      ASSERT_EQ(neighbourhood.first, end);
      ASSERT_LT(neighbourhood.first, neighbourhood.end);
      end = neighbourhood.end;
      ASSERT_NO_FATAL_FAILURE(through(neighbourhood));
    }
    for (Arrangement* each : {&now_, &kept_}) each->confine({0, now_.slots()});
    proposals_.confine();
    timing_.recompute();
    EXPECT_EQ(now_.schedule(), kept_.schedule());
  }

 private:
  void through(Neighbourhood neighbourhood) {
    for (Arrangement* each : {&now_, &kept_}) each->confine(neighbourhood);
    proposals_.confine();
    timing_.enter_neighbourhood();
    expect_times_from_scratch(timing_, now_);
    const std::vector<Slot> others = outside(now_);
    for (int i = 0; i < 60; ++i) {
      ASSERT_NO_FATAL_FAILURE(step());
      ASSERT_EQ(outside(now_), others);
      if (random_.below(8) == 0) reorder();
      if (random_.below(8) == 0) take(kept_, now_);
    }
    take(now_, kept_);
    timing_.leave_neighbourhood();
    expect_findings_of_memory_alone(now_);
  }

  void take(Arrangement& to, const Arrangement& from) {
    to.take_neighbourhood(from);
    EXPECT_EQ(to.schedule(), from.schedule());
    EXPECT_EQ(to.work_ms(), from.work_ms());
    EXPECT_EQ(to.excess_bytes(), from.excess_bytes());
    for (std::size_t p = 0; p < to.slots(); ++p) {
      ASSERT_EQ(to.at(p), from.at(p));
      ASSERT_EQ(to.position(to.at(p)), p);
    }
  }

  void step() {
    if (!proposals_.propose()) {
      now_.undo();
      return;
    }
    const double truth = FromScratch(now_).longest_through(now_.neighbourhood());
    const double limit = timing_.latency_ms() * random_.uniform(0.9, 1.3);
    const bool within = timing_.update(limit);
    ASSERT_EQ(within, truth <= limit);
    if (within && random_.below(4) > 0) {
      timing_.keep();
      now_.keep();
    } else {
      if (within) timing_.undo();
      now_.undo();
    }
    expect_times_from_scratch(timing_, now_);
    expect_findings_of_memory_alone(now_);
  }

  void reorder() {
    std::vector<double> key(now_.slots(), 0);
    for (Slot slot = 0; slot < now_.slots(); ++slot) key[slot] = timing_.end_ms(slot);
    const Schedule before = now_.schedule();
    now_.reorder(key);
    EXPECT_EQ(now_.schedule(), before);
    expect_times_from_scratch(timing_, now_);
  }

  const SearchProblem problem_;
  StageCosts stage_costs_;
  Random& random_;
  Arrangement now_, kept_;
  Timing timing_;
  Moves proposals_;
};

TEST(Neighbourhoods, TimesWithinAreThoseOfTheWhole) {
  for (std::uint64_t seed = 0; seed < test::tries(30u); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "neighbourhoods");
    test::CostStyle style;
    style.overlap = seed % 5 != 0;
    style.small_integers = seed % 3 == 0;
    const Graph graph = test::random_graph(20 + 2 * seed, 0.1, style, random);
    const Platform platform = test::devices(1 + seed % 4, 1 + static_cast<int>(seed % 3));
    const CostModel costs = CostModel::from_graph(graph, platform);
    Walk walk(costs, test::random_schedule(graph, platform, random), random);
    for (std::size_t size : {5, 12, 30}) walk.through_all_windows(size);
    if (HasFailure()) return;
  }
}

TEST(Neighbourhoods, RespectLabelsAndCountMemory) {
  for (std::uint64_t seed = 0; seed < test::tries(20u); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "tight neighbourhoods");
    const test::TightProblem problem = test::tight_problem(20 + seed, 0.02, seed);
    const CostModel costs = CostModel::from_graph(problem.graph, problem.platform);
    const auto packed = pack_operators(problem.graph, costs, "neighbourhoods");
    const auto order = priority_order(problem.graph, costs);
    Walk walk(costs, list_schedule(problem.graph, costs, order, packed), random);
    for (std::size_t size : {6, 15}) walk.through_all_windows(size);
    if (HasFailure()) return;
  }
}

/// A graph large enough for sweeps, and a schedule far from the optimum.
class Sweeps : public testing::Test {
 protected:
  Sweeps()
      : graph_(random_dag({.operators = 3000, .edges = 6000, .layers = 100})),
        platform_(test::devices(3, 1)),
        costs_(CostModel::from_graph(graph_, platform_)),
        problem_(costs_) {
    Random random(1, "sweeps");
    start_ = test::random_schedule(graph_, platform_, random);
  }

  double latency_ms(const Schedule& schedule) const {
    EXPECT_TRUE(validate(graph_, platform_, schedule).empty());
    return simulate(graph_, schedule, costs_).latency_ms;
  }

  Graph graph_;
  Platform platform_;
  CostModel costs_;
  SearchProblem problem_;
  Schedule start_;
};

TEST_F(Sweeps, NeverLeaveTheScheduleLonger) {
  Annealing island(problem_, start_, 1);
  double before = latency_ms(start_);
  for (std::int64_t length : {1000, 5000, 30000, 60000}) {
    island.begin_cycle(length);
    island.run(length, 0, {});
    island.end_cycle();
    const double now = latency_ms(island.best());
    EXPECT_NEAR(island.best_ms(), now, 1e-9 * now);
    EXPECT_LE(now, before * (1 + 1e-9));
    before = now;
  }
  EXPECT_LT(before, 0.8 * latency_ms(start_));
}

TEST_F(Sweeps, CutShortKeepWhatTheyFound) {
  Annealing island(problem_, start_, 2);
  const double before = latency_ms(start_);
  std::size_t asked = 0;
  island.begin_cycle(60000);
  island.run(20000, 0, {});
  island.run(40000, 0, Deadline([&] { return ++asked > 300; }));
  island.end_cycle();
  EXPECT_GT(asked, 300u);
  const double now = latency_ms(island.best());
  EXPECT_NEAR(island.best_ms(), now, 1e-9 * now);
  EXPECT_LT(now, before);
}

TEST_F(Sweeps, DoNotDependOnRoundsAndOtherIslands) {
  Annealing one(problem_, start_, 3), other(problem_, start_, 3), third(problem_, start_, 4);
  for (Annealing* island : {&one, &other, &third}) island->begin_cycle(20000);
  one.run(20000, 0, {});
  for (int round = 0; round < 10; ++round) {
    other.run(2000, 0, {});
    third.run(2000, 0, {});
  }
  for (Annealing* island : {&one, &other, &third}) island->end_cycle();
  EXPECT_EQ(one.best(), other.best());
  EXPECT_NE(one.best(), third.best());
  third.adopt(one);
  EXPECT_EQ(third.best(), one.best());
}

}  // namespace
}  // namespace hios::scheduler::best
