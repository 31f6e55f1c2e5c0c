#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "hios/base/error.h"
#include "hios/base/numbers/random.h"
#include "hios/graph/batches.h"
#include "scheduler/batches/divisible.h"
#include "support/graphs/dag_generator.h"
#include "support/oracles/brute_force.h"

namespace hios::scheduler {

/// Returns operators on different devices whose times grow more slowly or faster than the number of
/// inputs; some devices cannot run some sizes.
inline Graph random_sized_graph(std::size_t operators, std::int64_t inputs, std::size_t devices,
                                Random& random) {
  std::vector<Operator> described;
  std::vector<Edge> edges;
  for (std::size_t v = 0; v < operators; ++v) {
    Operator op;
    op.name = "op" + std::to_string(v);
    op.memory_bytes = 12 * (1 + random.below(10));
    op.parameter_bytes = random.below(60);
    for (std::size_t d = 0; d < devices; ++d) {
      auto& times = op.time_by_size["gpu" + std::to_string(d)];
      const double fixed_ms = random.uniform(0, 2), each_ms = random.uniform(0.1, 2);
      for (std::int64_t size = 1; size <= inputs; ++size) {
        if (d > 0 && random.below(6) == 0) continue;
        times[size] = fixed_ms + each_ms * static_cast<double>(size) * random.uniform(0.8, 1.2);
      }
      if (times.empty()) op.time_by_size.erase("gpu" + std::to_string(d));
    }
    described.push_back(op);
    for (std::size_t u = 0; u < v; ++u) {
      if (random.below(2) == 0) edges.push_back({OpId(u), OpId(v), 0, random.uniform(0, 2)});
    }
  }
  return Graph("sized", std::move(described), std::move(edges), {}, inputs);
}

/// Returns devices of one stream, the first of which mostly holds only some of the operators.
inline Platform limited(std::size_t count, std::size_t operators, Random& random) {
  const Platform all = test::devices(count, 1);
  std::vector<Device> devices(all.devices().begin(), all.devices().end());
  if (count > 1 && random.below(4) > 0) {
    devices.front().memory_bytes = 40 * operators + random.below(120 * operators);
  }
  return Platform(std::move(devices));
}

/// A graph, a platform and the inputs of schedulers.
struct DividedCase {
  DividedCase(std::size_t operators, std::int64_t inputs, std::size_t devices, Random& random)
      : platform(limited(devices, operators, random)),
        graphs(random_sized_graph(operators, inputs, devices, random),
               batch_sizes(inputs, inputs)) {}
  DivisibleProblem problem() const {
    return {&graphs, &platform,
            [this](const Graph& graph) { return CostModel::from_graph(graph, platform); }};
  }
  Platform platform;
  SizedGraphs graphs;
};

inline std::vector<Batch> batches_of(const SizedGraphs& graphs,
                                     const std::vector<std::uint64_t>& cuts) {
  std::vector<Batch> batches;
  for (std::size_t op = 0; op < cuts.size(); ++op) {
    std::int64_t begin = 0;
    for (std::int64_t end = 1; end <= graphs.inputs(); ++end) {
      if (end < graphs.inputs() && (cuts[op] >> (end - 1) & 1) == 0) continue;
      batches.push_back({OpId(op), {begin, end}});
      begin = end;
    }
  }
  return batches;
}

/// Returns the least latency over every division and every schedule of each.
inline double least_of_all(const DividedCase& one) {
  double least = std::numeric_limits<double>::infinity();
  const std::uint64_t masks = std::uint64_t{1} << (one.graphs.inputs() - 1);
  std::vector<std::uint64_t> cuts(one.graphs.whole()->size(), 0);
  while (true) {
    try {
      const Graph graph = divide(one.graphs, batches_of(one.graphs, cuts));
      const CostModel costs = CostModel::from_graph(graph, one.platform);
      least = std::min(
          least, test::brute_force(graph, one.platform, test::plain_costs_of(costs)).latency_ms);
    } catch (const InputError&) {  // no device runs this size
    }
    std::size_t op = 0;
    while (op < cuts.size() && ++cuts[op] == masks) cuts[op++] = 0;
    if (op == cuts.size()) return least;
  }
}

}  // namespace hios::scheduler
