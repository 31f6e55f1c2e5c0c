#include "scheduler/algorithms/hios/hios.h"

#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "hios/evaluate/simulate.h"
#include "hios/graph/random/random_dag.h"
#include "hios/graph/random/random_dag_text.h"
#include "scheduler/registry.h"
#include "support/graphs/dag_generator.h"
#include "support/oracles/first_finding.h"
#include "support/sanitized.h"

namespace hios::scheduler {
namespace {

using test::first_finding;

ScheduleResult run_with(std::string_view name, const CostModel& costs,
                        std::string_view option = "") {
  const Algorithm& algorithm = built_in().find(name);
  Options options(algorithm.options);
  if (!option.empty()) options.set(option);
  Context context;
  context.bound = LowerBound{};  // none is asked for
  return algorithm.run(Problem(costs), options, context);
}

/// Latencies of `hios` and of the two schedulers that it begins with.
struct Three {
  double hios, lp, heft;
};

Three latencies(const CostModel& costs) {
  const ScheduleResult found = run_with("hios", costs);
  EXPECT_EQ(first_finding(costs.graph(), costs.platform(), found.schedule), "");
  return {found.latency_ms, run_with("hios-lp", costs).latency_ms,
          run_with("heft", costs).latency_ms};
}

TEST(Hios, NeverLongerThanHiosLpAndHeft) {
  for (std::uint64_t seed = 0; seed < test::tries(150u); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "hios");
    test::CostStyle style = test::style_by_number(seed);
    style.by_device = seed % 4 == 0;
    const Graph graph =
        test::random_graph(1 + random.below(60), random.uniform(0, 0.2), style, random);
    const Contention contention = seed % 3 == 0 ? Contention::kLink : Contention::kNone;
    Platform platform = test::devices(1 + random.below(4), 3, contention);
    if (seed % 3 == 1) platform = test::with_receive(platform, 0.5);
    const Three of = latencies(CostModel::from_graph(graph, platform));
    EXPECT_LE(of.hios, of.lp);
    EXPECT_LE(of.hios, of.heft);
    if (::testing::Test::HasFailure()) return;
  }
}

// The families of bench/quality: in the mean at least 3 % shorter than both.
TEST(Hios, ShorterThanBothOnTheFamiliesOfTheStudy) {
  double over_lp = 0, over_heft = 0, count = 0;
  for (const std::string family :
       {"layered", "forkjoin", "tree", "chain", "cholesky", "independent", "dense"}) {
    for (const std::string devices : {"", ",speeds=1x2:0.1:1", ",speeds=1:0.5:0.25:1",
                                      ",speeds=1x2:0.5:1,memory=1.02", ",memory=1.05"}) {
      const std::string size = family == "dense" ? "80" : test::kSanitized ? "60" : "200";
      const std::string words = "family=" + family + ",n=" + size + ",seed=7" + devices;
      SCOPED_TRACE(words);
      const RandomProblem made = random_problem(parse_random_dag(words), test::devices(4, 8));
      const Three of = latencies(CostModel::from_graph(made.graph, made.platform));
      EXPECT_LE(of.hios, std::min(of.lp, of.heft));
      over_lp += of.hios / of.lp;
      over_heft += of.hios / of.heft;
      ++count;
    }
  }
  const double most = test::kSanitized ? 0.98 : 0.97;  // smaller networks leave less to gain
  EXPECT_LE(over_lp / count, most);
  EXPECT_LE(over_heft / count, most);
}

TEST(Hios, WithoutRoundsIsTheShorterOfBoth) {
  const RandomProblem made =
      random_problem(parse_random_dag("n=100,edges=200,layers=9"), test::devices(3, 8));
  const CostModel costs = CostModel::from_graph(made.graph, made.platform);
  const Three of = latencies(costs);
  EXPECT_EQ(run_with("hios", costs, "rounds=0").latency_ms, std::min(of.lp, of.heft));
  EXPECT_LT(of.hios, std::min(of.lp, of.heft));
}

TEST(Hios, OutOfTimeKeepsTheStart) {
  Random random(3, "hios late");
  const Graph graph = test::random_graph(100, 0.05, {}, random);
  const Platform platform = test::devices(3, 2);
  const CostModel costs = CostModel::from_graph(graph, platform);
  const Schedule start = run_with("heft", costs).schedule;
  const TimedSchedule kept =
      improve_by_passes(graph, costs, {start, false}, 5, Deadline([] { return true; }));
  EXPECT_EQ(kept.schedule, start);
  EXPECT_TRUE(kept.timed_out);
}

}  // namespace
}  // namespace hios::scheduler
