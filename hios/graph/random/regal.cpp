// Part of hios/graph/random/families.h: graphs like those of REGAL (Paliwal et al., "Reinforced
// Genetic Algorithm Learning for Optimizing Computation Graphs", appendix A.1.4) as Archer,
// Fahrbach, Liu and Prabhu, "Practical Performance Guarantees for Pipelined DNN Inference",
// appendix C.2, cut them into blocks.
//
// An undirected graph is drawn, then an order of the operators, and every edge leads from the
// earlier to the later. An operator has one tensor, of a size N(50, 10), for all its consumers. It
// costs the sizes of its inputs and its output, and a share r of all sizes together. We take the
// absolute value of the paper's r ~ N(0, 0.1), so that no cost is below zero; the models'
// parameters and the bandwidth, 1, are ours. A unit of size is a megabyte and takes a millisecond,
// which a link with 1 GB/s takes, too. REGAL leaves out graphs whose peak of memory is easy to
// find; here they are included. Test: tests/hios/graph/random/random_regal_test.cpp.
#include <cmath>
#include <numeric>

#include "hios/base/error.h"
#include "hios/graph/random/families.h"

namespace hios::families {
namespace {

using Base = RandomDag::Base;

constexpr std::size_t kFewest = 6, kMost = 20'000;  // a number is drawn for each pair
constexpr double kErdosRenyiProbability = 0.05;
constexpr RandomModules kBarabasiAlbert{.wiring = RandomModules::Wiring::kBarabasiAlbert, .k = 2};
constexpr RandomModules kWattsStrogatz{
    .wiring = RandomModules::Wiring::kWattsStrogatz, .p = 0.3, .k = 4};
constexpr std::size_t kBlocks = 4;
constexpr double kInsideProbability = 0.3, kBetweenProbability = 0.01;
constexpr double kMeanSize = 50, kSizeDeviation = 10, kShareDeviation = 0.1;
constexpr double kBytesOfSize = 1e6;

Pairs stochastic_blocks(std::size_t n, Random& random) {
  Pairs made;
  const auto block = [n](std::size_t v) { return v * kBlocks / n; };
  for (std::size_t b = 1; b < n; ++b) {
    for (std::size_t a = 0; a < b; ++a) {
      const double p = block(a) == block(b) ? kInsideProbability : kBetweenProbability;
      if (random.uniform() < p) made.emplace(a, b);
    }
  }
  return made;
}

Pairs based(const RandomDag& parameters, Random& random) {
  RandomModules one;
  switch (parameters.base) {
    case Base::kBlocks:
      return stochastic_blocks(parameters.operators, random);
    case Base::kErdosRenyi:
      one.p = kErdosRenyiProbability;
      break;
    case Base::kBarabasiAlbert:
      one = kBarabasiAlbert;
      break;
    case Base::kWattsStrogatz:
      one = kWattsStrogatz;
      break;
  }
  one.nodes = parameters.operators;
  return wired(one, random);
}

}  // namespace

void check_regal(const RandomDag& parameters) {
  if (parameters.operators < kFewest || parameters.operators > kMost) {
    throw InputError(key_words("n") + std::to_string(parameters.operators) +
                     " cannot be; family regal takes " + std::to_string(kFewest) + " to " +
                     std::to_string(kMost));
  }
  if (regal_edges_at_most(parameters) <= kMaxEdges) return;
  throw InputError(key_words("n") + std::to_string(parameters.operators) + " leads to more than " +
                   std::to_string(kMaxEdges) + " edges; give fewer");
}

std::size_t regal_edges_at_most(const RandomDag& parameters) {
  const auto n = static_cast<double>(parameters.operators);
  const double pairs = n * (n - 1) / 2, inside = pairs / static_cast<double>(kBlocks);
  double mean = 0;
  switch (parameters.base) {
    case Base::kBarabasiAlbert:
    case Base::kWattsStrogatz:
      return kWattsStrogatz.k * parameters.operators;
    case Base::kErdosRenyi:
      mean = pairs * kErdosRenyiProbability;
      break;
    case Base::kBlocks:
      mean = inside * kInsideProbability + pairs * kBetweenProbability;
      break;
  }
  return static_cast<std::size_t>(std::min(pairs, std::ceil(mean + 10 * std::sqrt(mean) + 10)));
}

Structure draw_regal(const RandomDag& parameters, Random& random) {
  Structure made{.operators = parameters.operators};
  const Pairs pairs = based(parameters, random);
  std::vector<std::size_t> position(made.operators);
  std::iota(position.begin(), position.end(), std::size_t{0});
  shuffle(position, random);
  for (const auto& [a, b] : pairs) {
    made.edges.emplace_back(std::min(position[a], position[b]), std::max(position[a], position[b]));
  }
  return made;
}

void set_regal_costs(const RandomDag& parameters, GraphDraft& draft) {
  Random random(parameters.seed, "random_dag regal");
  double all_ms = 0;
  for (Operator& op : draft.operators) {
    const double size = std::max(0.0, normal(random, kMeanSize, kSizeDeviation));
    op.memory_bytes = static_cast<Bytes>(std::llround(size * kBytesOfSize));
    op.time_ms = static_cast<double>(op.memory_bytes) / kBytesOfSize;
    op.utilization = 1;
    all_ms += op.time_ms;
  }
  for (Edge& edge : draft.edges) {
    edge.size_bytes = draft.operators[edge.from.index()].memory_bytes;
    edge.transfer_ms = static_cast<double>(edge.size_bytes) / kBytesOfSize;
    draft.operators[edge.to.index()].time_ms += *edge.transfer_ms;
  }
  for (Operator& op : draft.operators) {
    op.time_ms += std::abs(normal(random, 0, kShareDeviation)) * all_ms;
  }
  draft.stage_cost = {};
}

}  // namespace hios::families
