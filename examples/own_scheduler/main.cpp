// An own scheduler compared with those of HIOS from C++: a random network of the HIOS paper's
// simulations on four devices, and a row for each scheduler.

#include <chrono>
#include <cstdio>
#include <vector>

#include "earliest_finish.h"
#include "hios/graph/random/random_dag.h"
#include "scheduler/compare/compare.h"

using namespace hios;
using namespace hios::scheduler;

int main() {
  // 1. A problem: a graph and its costs on these devices; the objective is the latency.
  const Graph graph = random_dag({});
  const Platform platform = Platform::homogeneous(4, "gpu", 0, 8);
  const CostModel costs = CostModel::from_graph(graph, platform);

  // 2. Algorithms, with their default options.
  Registry registry = built_in();
  registry.add(earliest_finish());
  std::vector<Request> requests;
  for (const char* name : {"sequential", "ios", "heft", "hios-lp", "best", "earliest-finish"}) {
    const Algorithm& algorithm = registry.find(name);
    requests.push_back({&algorithm, Options(algorithm.options)});
  }

  // 3. Two seconds for each. The library owns no clock: the program gives one.
  using Clock = std::chrono::steady_clock;
  const auto clock = [] {
    return std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
  };
  for (const Row& row : compare(Problem(costs), requests, Deadline({}, clock, 2))) {
    std::printf("%-16s %8.3f ms, %5.1f %% above the bound, in %.4f s\n", row.algorithm.c_str(),
                row.predicted.latency_ms, 100 * row.predicted.gap(), row.seconds);
  }
}
