#include "scheduler/best/starts/device_subsets.h"
#include "hios/graph/random/random_dag_text.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "hios/graph/random/random_dag.h"
#include "support/graphs/dag_generator.h"
#include "support/oracles/brute_force.h"
#include "support/oracles/searched.h"
#include "support/sanitized.h"

namespace hios::scheduler::best {
namespace {

/// Returns the latency of the described network on devices of these speeds.
double latency_on(const std::string& words, const std::vector<double>& speeds, int streams,
                  std::int64_t iterations) {
  RandomDag parameters = parse_random_dag(words);
  parameters.devices.speeds = speeds;
  const auto [graph, platform] = random_problem(parameters, test::devices(speeds.size(), streams));
  return search_for(CostModel::from_graph(graph, platform), iterations, 2).latency_ms;
}

TEST(DeviceSubsets, NeverMakeBestWorseWithAnAdditionalSlowerDevice) {
  for (const char* family : {"layered", "forkjoin", "tree", "chain", "cholesky", "dense"}) {
    for (std::uint64_t seed = 0; seed < test::tries(6u); ++seed) {
      SCOPED_TRACE(family + (" " + std::to_string(seed)));
      const std::string words = "family=" + std::string(family) +
                                ",n=" + std::to_string(30 + 10 * seed) +
                                ",seed=" + std::to_string(seed);
      const int streams = seed % 2 == 0 ? 1 : 3;
      double before = latency_on(words, {1, 1}, streams, 300);
      for (const std::vector<double>& speeds :
           {std::vector<double>{1, 1, 0.4}, std::vector<double>{1, 1, 0.4, 0.1}}) {
        const double now = latency_on(words, speeds, streams, 300);
        EXPECT_LE(now, before * (1 + test::kOracleRounding)) << speeds.size() << " devices";
        before = now;
      }
    }
  }
}

/// Returns the problem with one more device: slower than the first by this factor, or useless if
/// that is 0.
RandomProblem with_device(const RandomProblem& problem, double slower) {
  std::vector<Device> devices(problem.platform.devices().begin(), problem.platform.devices().end());
  const std::string first = devices.front().name;
  devices.push_back({"more", "cpu", 0, 1, 0, ""});
  std::vector<Operator> operators(problem.graph.operators().begin(),
                                  problem.graph.operators().end());
  for (Operator& op : operators) {
    if (slower > 0) op.time_by_device["more"] = slower * op.time_by_device.at(first);
  }
  const Graph& graph = problem.graph;
  return {Graph(graph.name(), operators, {graph.edges().begin(), graph.edges().end()},
                graph.stage_cost()),
          Platform(devices)};
}

TEST(DeviceSubsets, NeverMakeBestWorseWithAnAdditionalDeviceWhereMemoryIsShort) {
  for (std::uint64_t seed = 0; seed < test::tries(30u); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomDag parameters =
        parse_random_dag("n=" + std::to_string(20 + 2 * seed) + ",seed=" + std::to_string(seed));
    parameters.devices.speeds = {1, 1, 0.8};
    parameters.devices.memory = 1.1;
    const RandomProblem few = random_problem(parameters, test::devices(3, 1));
    const RandomProblem idle = with_device(few, 0), slow = with_device(few, 20);
    const auto latency_ms = [](const RandomProblem& problem) {
      return search_for(CostModel::from_graph(problem.graph, problem.platform), 300).latency_ms;
    };
    const double before = latency_ms(few);
    EXPECT_LE(latency_ms(slow), before * (1 + test::kOracleRounding));
    EXPECT_LE(latency_ms(idle), before * (1 + test::kOracleRounding));
  }
}

}  // namespace
}  // namespace hios::scheduler::best
