#include "scheduler/compare/compare.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "hios/base/error.h"
#include "hios/evaluate/blocks.h"
#include "hios/evaluate/simulate.h"
#include "hios/evaluate/validate.h"
#include "hios/graph/random/random_dag.h"
#include "scheduler/algorithms/baselines/sequential.h"
#include "scheduler/registry.h"
#include "support/expect_error.h"
#include "support/graphs/dag_generator.h"
#include "support/graphs/small_graph.h"

namespace hios::scheduler {
namespace {

/// A problem of three operators in a row, and a clock and a stop request that the test sets.
class Compare : public testing::Test {
 protected:
  /// An algorithm that schedules all operators on the first device, after `before`.
  template <class Before>
  static Algorithm one_device(std::string name, Before before) {
    return {
        .name = std::move(name),
        .description = "everything on the first device",
        .options = {},
        .run = [before](const Problem& problem, const Options& options, const Context& context) {
          before(context);
          return complete(
              on_one_device(problem.platform(), DeviceId(0), sequential(problem.graph())),
              Outcome::kFeasible, problem, options, context);
        }};
  }
  static Algorithm one_device(std::string name) {
    return one_device(std::move(name), [](const Context&) {});
  }
  static Algorithm refusing(std::string name) {
    return one_device(name, [name](const Context&) { throw InputError(name + ": no"); });
  }
  static std::vector<Request> requests(const std::vector<Algorithm>& algorithms) {
    std::vector<Request> all;
    for (const Algorithm& each : algorithms) all.push_back({&each, Options(each.options)});
    return all;
  }
  static std::vector<Request> named(std::initializer_list<std::string_view> names) {
    std::vector<Request> all;
    for (const std::string_view name : names) {
      const Algorithm& algorithm = built_in().find(name);
      all.push_back({&algorithm, Options(algorithm.options)});
      if (all.back().options.has("iterations")) all.back().options.set("iterations=100");
    }
    return all;
  }
  Deadline in(double seconds) {
    return Deadline([this] { return stop_; }, [this] { return now_s_; }, seconds);
  }

  Graph graph_ = test::small_graph({3, 2, 1}, {{1, 2, 1}, {2, 3, 1}});
  Platform platform_ = test::devices(2, 1);
  CostModel costs_ = CostModel::from_graph(graph_, platform_);
  Problem problem_{costs_};
  double now_s_ = 50;
  bool stop_ = false;
};

TEST_F(Compare, HasARowForEachAlgorithmInTheirOrder) {
  const auto rows = compare(problem_, named({"ios", "sequential", "hios-lp"}), {});
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].algorithm, "ios");
  EXPECT_EQ(rows[1].algorithm, "sequential");
  EXPECT_EQ(rows[2].algorithm, "hios-lp");
  for (const Row& row : rows) {
    EXPECT_FALSE(row.refusal);
    EXPECT_TRUE(row.requested);
    EXPECT_EQ(row.graph.get(), &graph_);
    EXPECT_EQ(row.costs.get(), &costs_);
    EXPECT_TRUE(validate(graph_, platform_, row.schedule).empty());
    EXPECT_EQ(row.predicted.latency_ms, simulate(graph_, row.schedule, costs_).latency_ms);
    EXPECT_EQ(row.compared().latency_ms, row.predicted.latency_ms);
    EXPECT_FALSE(row.many);
    EXPECT_EQ(row.predicted.lower_bound_ms, 6) << "the critical path";
    EXPECT_EQ(row.devices_used, 1u);
    EXPECT_EQ(row.sent_bytes, Bytes{0});
    EXPECT_EQ(row.waiting_share, 0);
    EXPECT_EQ(row.seconds, 0) << "there is no clock";
  }
}

TEST_F(Compare, DescribesTransfersAndWaiting) {
  const Graph fork = test::small_graph({1, 3, 3}, {{1, 2, 1}, {1, 3, 1}});
  const CostModel costs = CostModel::from_graph(fork, platform_);
  const auto rows = compare(Problem(costs), named({"hios-lp"}), {});
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].predicted.latency_ms, 5);
  EXPECT_EQ(rows[0].devices_used, 2u);
  EXPECT_EQ(rows[0].sent_bytes, Bytes{1000});
  EXPECT_NEAR(rows[0].waiting_share, 1 - 7.0 / 10, 1e-12);
}

TEST_F(Compare, KeepsARefusalAsARow) {
  const std::vector<Algorithm> algorithms = {refusing("first"), one_device("second"),
                                             refusing("third")};
  const auto rows = compare(problem_, requests(algorithms), {});
  ASSERT_EQ(rows.size(), 3u);
  ASSERT_TRUE(rows[0].refusal);
  EXPECT_EQ(std::string(rows[0].refusal->what()), "first: no");
  EXPECT_FALSE(rows[0].graph);
  EXPECT_FALSE(rows[1].refusal);
  EXPECT_EQ(std::string(rows[2].refusal->what()), "third: no");
}

TEST_F(Compare, ThrowsTheLastRefusalWhereAllRefuse) {
  const std::vector<Algorithm> algorithms = {refusing("first"), refusing("second")};
  test::expect_error([&] { compare(problem_, requests(algorithms), {}); }, {"second: no"});
}

TEST_F(Compare, RefusesLatencyForAnAlgorithmThatIsForThroughput) {
  const auto rows = compare(problem_, named({"sequential", "slice-graph"}), {});
  ASSERT_EQ(rows.size(), 2u);
  ASSERT_TRUE(rows[1].refusal);
  EXPECT_EQ(std::string(rows[1].refusal->what()),
            "slice-graph schedules for throughput, not for latency");
}

TEST_F(Compare, GivesEachAlgorithmTheRemainingSecondsFromItsOwnStart) {
  std::vector<double> left, halves;
  const auto look = [&](const Context& context) {
    left.push_back(context.deadline.seconds_left());
    halves.push_back(context.deadline.half().seconds_left());
    now_s_ += 5;
  };
  const std::vector<Algorithm> algorithms = {one_device("first", look), one_device("second", look),
                                             one_device("third", look)};
  const Deadline deadline = in(8);
  now_s_ += 2;  // reading took that
  const auto rows = compare(problem_, requests(algorithms), deadline);
  EXPECT_EQ(left, (std::vector<double>{6, 6, 6}));
  EXPECT_EQ(halves, (std::vector<double>{3, 3, 3}));
  for (const Row& row : rows) EXPECT_EQ(row.seconds, 5);
}

TEST_F(Compare, BoundsTakeAQuarterOfTheTimeAtMost) {
  // A clock that goes on whenever it is read: the bounds of a large graph read it often.
  const Graph graph = random_dag({});
  const CostModel costs = CostModel::from_graph(graph, platform_);
  double now_s = 0;
  const Deadline deadline(
      {}, [&now_s] { return now_s += 0.5; }, 100);
  double left = 0;
  const std::vector<Algorithm> algorithms = {
      one_device("only", [&](const Context& context) { left = context.deadline.seconds_left(); })};
  compare(Problem(costs), requests(algorithms), deadline);
  EXPECT_GT(left, 60);
  EXPECT_LT(left, 100);
}

TEST_F(Compare, AStopRequestBeforeTheFirstLeavesIt) {
  bool expired = false;
  const std::vector<Algorithm> algorithms = {
      one_device("first", [&](const Context& context) { expired = context.deadline.expired(); }),
      one_device("second")};
  stop_ = true;
  const auto rows = compare(problem_, requests(algorithms), in(8));
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].algorithm, "first");
  EXPECT_TRUE(expired);
}

TEST_F(Compare, AStopRequestStartsNoOther) {
  const std::vector<Algorithm> algorithms = {
      refusing("first"), one_device("second", [&](const Context&) { stop_ = true; }),
      one_device("third")};
  const auto rows = compare(problem_, requests(algorithms), in(8));
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[1].algorithm, "second");
}

TEST_F(Compare, WithoutTimeEachAlgorithmStillRuns) {
  const auto rows = compare(problem_, named({"sequential", "hios-lp", "best"}), in(0));
  EXPECT_EQ(rows.size(), 3u);
}

/// The algorithm with a bound of its own, which it claims to have proved.
Algorithm with_bound(Algorithm algorithm, double ms) {
  algorithm.run = [run = algorithm.run, ms](const Problem& problem, const Options& options,
                                            const Context& context) {
    ScheduleResult result = run(problem, options, context);
    result.lower_bound_ms = ms;
    result.bound = "own";
    return result;
  };
  return algorithm;
}

TEST_F(Compare, ABoundThatOneProvedIsThatOfAll) {
  const Graph fork = test::small_graph({1, 3, 3}, {{1, 2, 0}, {1, 3, 0}});
  const CostModel costs = CostModel::from_graph(fork, platform_);
  const std::vector<Algorithm> algorithms = {one_device("first"),
                                             with_bound(one_device("second"), 6.5)};
  const auto rows = compare(Problem(costs), requests(algorithms), {});
  for (const Row& row : rows) {
    EXPECT_EQ(row.predicted.lower_bound_ms, 6.5) << row.algorithm;
    EXPECT_EQ(row.predicted.bound, "own");
  }
}

TEST_F(Compare, ABoundAboveAScheduleIsAFailure) {
  const std::vector<Algorithm> algorithms = {one_device("first"),
                                             with_bound(one_device("second"), 7)};
  test::expect_error<RunError>([&] { compare(problem_, requests(algorithms), {}); },
                               {"second", "own", "above the schedule of first"});
}

TEST_F(Compare, AScheduleThatBreaksARuleIsAFailure) {
  Algorithm wrong = one_device("wrong");
  wrong.run = [run = wrong.run](const Problem& problem, const Options& options,
                                const Context& context) {
    ScheduleResult result = run(problem, options, context);
    result.schedule.devices[0].pop_back();
    return result;
  };
  const std::vector<Algorithm> algorithms = {wrong};
  test::expect_error<RunError>([&] { compare(problem_, requests(algorithms), {}); },
                               {"wrong made a schedule that breaks a rule", "v3"});
}

TEST_F(Compare, ShowsTheProgressOfTheRunningAlgorithmAlone) {
  std::vector<std::string> events;
  CompareOptions options{.seed = 7};
  options.progress = [&](const std::string& algorithm) -> CompareOptions::Show {
    events.push_back("begin " + algorithm);
    const std::shared_ptr<void> end(
        nullptr, [&, algorithm](void*) { events.push_back("end " + algorithm); });
    return [&, end](std::string_view line) { events.emplace_back(line); };
  };
  std::uint64_t seed = 0;
  const auto work = [&](const Context& context) {
    context.progress("working");
    seed = context.seed;
  };
  const std::vector<Algorithm> algorithms = {one_device("a", work), refusing("b")};
  compare(problem_, requests(algorithms), {}, options);
  EXPECT_EQ(seed, 7u);
  EXPECT_EQ(events, (std::vector<std::string>{"begin a", "working", "end a", "begin b", "end b"}));
}

TEST_F(Compare, PeriodsAreThatOfEachScheduleForThroughput) {
  const auto rows = compare(Problem(costs_, Objective::kThroughput, 4),
                            named({"sequential", "best", "slice-graph"}), {});
  ASSERT_EQ(rows.size(), 4u);
  for (std::size_t i = 0; i < 3; ++i) {
    const Row& row = rows[i];
    SCOPED_TRACE(row.algorithm);
    ASSERT_TRUE(row.many && row.many->throughput);
    const double period_ms = period_of(graph_, row.schedule, costs_).ms();
    EXPECT_EQ(row.compared().throughput->period_ms, period_ms);
    EXPECT_EQ(row.compared().throughput->per_second, 1000 * 4 / period_ms);
    EXPECT_LE(row.compared().lower_bound_ms, period_ms);
    const bool for_it = row.algorithm != "sequential";
    EXPECT_EQ(row.objective, for_it ? Objective::kThroughput : Objective::kLatency);
    EXPECT_EQ(row.predicted.throughput.has_value(), for_it);
  }
  EXPECT_EQ(rows[0].predicted.lower_bound_ms, 6) << "of the latency";
  EXPECT_EQ(rows[0].many->lower_bound_ms, 3) << "of the period";
}

TEST_F(Compare, AddsCopiesOfTheNetworkForThroughput) {
  const Problem problem(costs_, Objective::kThroughput, 4);
  const auto rows = compare(problem, named({"sequential", "best"}), {});
  ASSERT_EQ(rows.size(), 3u);
  const Row& copies = rows.back();
  EXPECT_EQ(copies.algorithm, "copies");
  EXPECT_FALSE(copies.requested);
  EXPECT_FALSE(copies.graph) << "no schedule expresses it";
  EXPECT_EQ(copies.compared().throughput->period_ms, 3) << "two devices, 6 ms each";
  EXPECT_EQ(copies.compared().latency_ms, 6);
  EXPECT_EQ(copies.devices_used, 2u);
  EXPECT_EQ(compare(problem, named({"best"}), {}).size(), 1u) << "nothing is compared";
}

TEST_F(Compare, DividesInputsAndAddsCopies) {
  Operator op;
  op.name = "op";
  for (const std::int64_t size : {1, 2}) {
    for (const char* device : {"gpu0", "gpu1"})
      op.time_by_size[device][size] = static_cast<double>(size);
  }
  const SizedGraphs graphs(Graph("sized", {op}, {}, {}, 2), batch_sizes(2, std::int64_t{2}));
  const DivisibleProblem divisible{&graphs, &platform_, [&](const Graph& graph) {
                                     return CostModel::from_graph(graph, platform_);
                                   }};
  const Problem problem(divisible);
  EXPECT_EQ(problem.inputs(), 2);
  EXPECT_EQ(&problem.graph(), graphs.whole().get());
  const auto rows = compare(problem, named({"sequential", "best"}), {});
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].predicted.latency_ms, 2);
  EXPECT_EQ(rows[1].predicted.latency_ms, 1);
  const Row& copies = rows[2];
  EXPECT_EQ(copies.algorithm, "copies");
  EXPECT_FALSE(copies.requested);
  EXPECT_EQ(copies.predicted.latency_ms, 1);
  EXPECT_TRUE(validate(*copies.graph, platform_, copies.schedule).empty());
  for (const Row& row : rows) EXPECT_EQ(row.predicted.lower_bound_ms, 1) << row.algorithm;
  test::expect_error([&] { compare(problem, named({"slice-graph"}), {}); },
                     {"slice-graph schedules for throughput, not for latency"});
}

}  // namespace
}  // namespace hios::scheduler
