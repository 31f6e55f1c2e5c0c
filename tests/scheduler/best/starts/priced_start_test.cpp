#include "scheduler/best/starts/priced_start.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "hios/graph/random/random_dag.h"
#include "hios/graph/random/random_dag_text.h"
#include "scheduler/algorithms/list/peft.h"
#include "scheduler/best/starts/start_latencies.h"
#include "scheduler/best/starts/starts.h"
#include "support/expect_error.h"
#include "support/graphs/dag_generator.h"
#include "support/sanitized.h"

namespace hios::scheduler::best {
namespace {

RandomProblem problem_of(const std::string& words, std::uint64_t seed, std::size_t devices) {
  return random_problem(parse_random_dag(words + ",seed=" + std::to_string(seed)),
                        test::devices(devices, 1));
}

double priced_ms(const RandomProblem& problem) {
  return start_ms(problem, [&](const CostModel& costs) {
    return schedule_by_prices(problem.graph, costs, {});
  });
}

TEST(PricedStart, IsFarBelowHeftWhereMemoryIsTight) {
  for (const char* const family : {"forkjoin,n=300", "chain,n=300", "cholesky,n=200"}) {
    for (std::uint64_t seed = 0; seed < test::tries(3u); ++seed) {
      SCOPED_TRACE(std::string(family) + ", seed " + std::to_string(seed));
      const RandomProblem problem = problem_of(
          "family=" + std::string(family) + ",speeds=1x4:0.6x4:0.3x4,spread=0.5,memory=1.05", seed,
          12);
      EXPECT_LT(priced_ms(problem), 0.9 * heft_ms(problem));
    }
  }
}

TEST(PricedStart, RespectsLabelsAndAllowedDevices) {
  int found = 0;
  for (std::uint64_t seed = 0; seed < test::tries(12u); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const RandomProblem problem = problem_of(
        "n=40,layers=6,edges=70,speeds=1:0.6:0.3,spread=0.4,memory=1.3,colocate=0.3,allowed=0.2",
        seed, 3);
    try {
      priced_ms(problem);
      ++found;
    } catch (const InputError&) {  // greedy choices leave the last operators no device
    }
  }
  EXPECT_GT(found, static_cast<int>(test::tries(12u)) / 2);
}

TEST(PricedStart, RefusesWhatPricesDoNotHelp) {
  const auto refused = [](const RandomProblem& problem, const char* reason) {
    const CostModel costs = CostModel::from_graph(problem.graph, problem.platform);
    test::expect_error<InputError>([&] { schedule_by_prices(problem.graph, costs, {}); }, {reason});
  };
  refused(problem_of("n=50,layers=5,edges=80,speeds=1:0.5", 0, 2), "memory does not bind");
  refused(problem_of("n=50,layers=5,edges=80,speeds=1:0.5,memory=90", 0, 2),
          "memory does not bind");
}

/// A search of some devices is the same whatever others there are.
TEST(PricedStart, IgnoresTheMemoryOfDevicesThatRunNothing) {
  const RandomProblem problem =
      problem_of("n=50,layers=5,edges=80,speeds=1:0.5:0.2,memory=1.1", 1, 3);
  std::vector<Device> devices(problem.platform.devices().begin(), problem.platform.devices().end());
  devices[0].memory_bytes = devices[1].memory_bytes = 0;
  const Platform platform(devices);
  const CostModel costs = CostModel::from_graph(problem.graph, platform);
  EXPECT_NO_THROW(schedule_by_prices(problem.graph, costs, {}));
  const CostModel two = costs.only(std::vector{DeviceId(0), DeviceId(1)});
  test::expect_error<InputError>([&] { schedule_by_prices(problem.graph, two, {}); },
                                 {"memory does not bind"});
}

TEST(IslandStarts, AreTwoThatAreFarApart) {
  const auto starts_named = [](const std::vector<std::string>& names) {
    std::vector<Start> made;
    for (const std::string& name : names) {
      made.push_back({name, {}, 1});
      made.back().schedule.devices.resize(made.size());  // tells schedules apart
    }
    return made;
  };
  const auto taken = [&](const std::vector<std::string>& names) {
    std::vector<std::size_t> numbers;
    for (const Schedule& schedule : island_starts(starts_named(names))) {
      numbers.push_back(schedule.devices.size());
    }
    return numbers;
  };
  using Numbers = std::vector<std::size_t>;
  EXPECT_EQ(taken({"heft"}), Numbers{1});
  EXPECT_EQ(taken({"heft", "prices", "hios"}), Numbers{1});
  EXPECT_EQ(taken({"heft", "hios", "strips"}), (Numbers{1, 3}));
  EXPECT_EQ(taken({"strips", "strips", "heft"}), (Numbers{1, 3}));
  EXPECT_EQ(taken({"prices", "prices", "classes"}), (Numbers{1, 3}));
}

/// Tolls count like times: with them, the table is that of the problem with longer times.
TEST(PricedStart, TollsCountLikeTimes) {
  const RandomProblem problem = problem_of("n=60,layers=6,edges=110,speeds=1:0.5:0.25", 3, 3);
  const CostModel costs = CostModel::from_graph(problem.graph, problem.platform);
  const auto toll = [](OpId op, DeviceId device) {
    return static_cast<double>(op.index() % 3 + 2 * device.index());
  };
  const std::vector<double> with = optimistic_costs(problem.graph, costs, toll);
  const std::vector<double> without = optimistic_costs(problem.graph, costs);
  for (const OpId op : problem.graph.topological()) {
    for (std::size_t d = 0; d < 3; ++d) {
      double expected = 0;
      for (const EdgeId e : problem.graph.out_edges(op)) {
        const OpId to = problem.graph.edge(e).to;
        double least = 1e300;
        for (std::size_t k = 0; k < 3; ++k) {
          const double transfer = k == d ? 0 : costs.mean_transfer_ms(e);
          least = std::min(least, with[to.index() * 3 + k] + costs.operator_ms(to, DeviceId(k)) +
                                      toll(to, DeviceId(k)) + transfer);
        }
        expected = std::max(expected, least);
      }
      EXPECT_NEAR(with[op.index() * 3 + d], expected, 1e-9);
      EXPECT_GE(with[op.index() * 3 + d], without[op.index() * 3 + d]);
    }
  }
}

}  // namespace
}  // namespace hios::scheduler::best
