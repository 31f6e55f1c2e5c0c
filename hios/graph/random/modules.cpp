// Part of hios/graph/random/families.h: modules in a row, as in Ghannane and Abdelfattah, "DiviML",
// section V: networks wired at random (Xie et al., "Exploring Randomly Wired Neural Networks for
// Image Recognition", section 3), joined by some tensors.
//
// A module's operators have an order, and edges lead along it; its inputs are the first of them,
// its outputs the last. An operator without predecessors reads an input, and one without successors
// is read by an output. With strong ends these are the first input and the last output, whose paths
// therefore cover nearly all of the module (the paper: all paths stem from at least one input, a
// specific endpoint's paths cover all). With weak ends they are drawn, so that paths are spread
// (the paper: sampled). With one channel, every path from module to module passes one output and
// one input. Test: tests/hios/graph/random/random_modules_test.cpp.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "hios/base/error.h"
#include "hios/graph/random/families.h"

namespace hios::families {
namespace {

using Wiring = RandomModules::Wiring;

constexpr std::size_t kMostNodes = 20'000;  // a number is drawn for each pair
constexpr double kMostPairs = 1e9;

double pairs(const RandomModules& modules) {
  const auto n = static_cast<double>(modules.nodes);
  return n * (n - 1) / 2;
}

double wired_at_most(const RandomModules& modules) {
  if (modules.wiring != Wiring::kErdosRenyi) {
    return static_cast<double>(modules.nodes) * static_cast<double>(modules.k);
  }
  const double mean = pairs(modules) * modules.p;
  return std::min(pairs(modules), std::ceil(mean + 10 * std::sqrt(mean) + 10));
}

[[noreturn]] void refuse(std::string_view key, const std::string& what) {
  throw InputError(key_words(key) + what);
}

std::pair<std::size_t, std::size_t> joined(std::size_t a, std::size_t b) {
  return {std::min(a, b), std::max(a, b)};
}

Pairs erdos_renyi(const RandomModules& modules, Random& random) {
  Pairs made;
  for (std::size_t b = 1; b < modules.nodes; ++b) {
    for (std::size_t a = 0; a < b; ++a) {
      if (random.uniform() < modules.p) made.emplace(a, b);
    }
  }
  return made;
}

/// Rewires the edges of a ring lattice, by increasing length, each to another operator with the
/// probability p, unless its origin is joined to all.
Pairs watts_strogatz(const RandomModules& modules, Random& random) {
  const std::size_t n = modules.nodes;
  Pairs made;
  std::vector<std::size_t> degree(n, 0);
  const auto add = [&](std::size_t a, std::size_t b) {
    if (!made.insert(joined(a, b)).second) return;
    ++degree[a];
    ++degree[b];
  };
  for (std::size_t step = 1; step <= modules.k / 2; ++step) {
    for (std::size_t v = 0; v < n; ++v) add(v, (v + step) % n);
  }
  for (std::size_t step = 1; step <= modules.k / 2; ++step) {
    for (std::size_t v = 0; v < n; ++v) {
      const std::size_t neighbour = (v + step) % n;
      const bool moves = random.uniform() < modules.p;
      if (!moves || degree[v] + 1 >= n || !made.contains(joined(v, neighbour))) continue;
      std::size_t to = random.below(n);
      while (to == v || made.contains(joined(v, to))) to = random.below(n);
      made.erase(joined(v, neighbour));
      --degree[v];
      --degree[neighbour];
      add(v, to);
    }
  }
  return made;
}

/// `ends` holds each operator once for each of its edges: a draw prefers operators with many edges.
Pairs barabasi_albert(const RandomModules& modules, Random& random) {
  Pairs made;
  std::vector<std::size_t> ends(modules.k);
  std::iota(ends.begin(), ends.end(), std::size_t{0});
  for (std::size_t v = modules.k; v < modules.nodes; ++v) {
    std::set<std::size_t> chosen;
    while (chosen.size() < modules.k) chosen.insert(ends[random.below(ends.size())]);
    for (const std::size_t u : chosen) {
      made.emplace(u, v);
      ends.push_back(u);
      ends.push_back(v);
    }
  }
  return made;
}

/// Joins operators without predecessors to an input (the first operators), and those without
/// successors to an output (the last).
void tie_ends(Pairs& edges, const RandomModules& modules, Random& random) {
  const std::size_t n = modules.nodes, c = modules.channels;
  const bool drawn = modules.ends == RandomModules::Ends::kWeak && c > 1;
  std::vector<bool> reads(n, false), is_read(n, false);
  for (const auto& [a, b] : edges) {
    reads[b] = true;
    is_read[a] = true;
  }
  for (std::size_t v = c; v < n; ++v) {
    if (reads[v]) continue;
    const std::size_t input = drawn ? random.below(c) : 0;
    edges.emplace(input, v);
    is_read[input] = true;
  }
  for (std::size_t v = 0; v + c < n; ++v) {
    if (!is_read[v]) edges.emplace(v, drawn ? n - c + random.below(c) : n - 1);
  }
}

}  // namespace

Pairs wired(const RandomModules& modules, Random& random) {
  switch (modules.wiring) {
    case Wiring::kErdosRenyi:
      return erdos_renyi(modules, random);
    case Wiring::kWattsStrogatz:
      return watts_strogatz(modules, random);
    case Wiring::kBarabasiAlbert:
      break;
  }
  return barabasi_albert(modules, random);
}

void check_modules(const RandomDag& parameters) {
  const RandomModules& modules = parameters.modules;
  if (modules.nodes < 1 || modules.nodes > kMostNodes) {
    refuse("nodes", "a module has 1 to " + std::to_string(kMostNodes));
  }
  if (modules.count < 1 || modules.count > kMaxOperators / modules.nodes) {
    refuse("modules", "they have more than " + std::to_string(kMaxOperators) +
                          " operators together; give fewer or smaller ones");
  }
  if (modules.channels < 1 || 2 * modules.channels > std::max<std::size_t>(2, modules.nodes)) {
    refuse("channels", std::to_string(modules.channels) +
                           " cannot be; at most half of a module's " +
                           std::to_string(modules.nodes) + " operators are its inputs");
  }
  const bool neighbours = modules.wiring != Wiring::kErdosRenyi;
  const bool odd = modules.wiring == Wiring::kWattsStrogatz && modules.k % 2 != 0;
  if (neighbours && (modules.k < 1 || modules.k >= modules.nodes || odd)) {
    refuse("wiring", std::to_string(modules.k) + " neighbours cannot be among " +
                         std::to_string(modules.nodes) +
                         " operators; give fewer, and with ws an even number");
  }
  if (!(modules.p >= 0 && modules.p <= 1)) refuse("wiring", "a probability is 0 to 1");
  const auto count = static_cast<double>(modules.count);
  if (pairs(modules) * count > kMostPairs ||
      count * wired_at_most(modules) > static_cast<double>(kMaxEdges)) {
    refuse("nodes", "they lead to too many edges; give fewer or smaller modules");
  }
  if (!parameters.devices.speeds.empty() || parameters.devices.spread > 0) {
    refuse("family", "modules have times by device already; leave speeds and spread out");
  }
}

std::size_t modules_edges_at_most(const RandomDag& parameters) {
  const RandomModules& modules = parameters.modules;
  const auto inside = static_cast<std::size_t>(wired_at_most(modules)) + 2 * modules.nodes;
  return modules.count * (inside + modules.channels);
}

Structure draw_modules(const RandomDag& parameters, Random& random) {
  const RandomModules& modules = parameters.modules;
  Structure made{.operators = modules.count * modules.nodes};
  for (std::size_t m = 0; m < modules.count; ++m) {
    const std::size_t first = m * modules.nodes;
    Pairs edges = wired(modules, random);
    tie_ends(edges, modules, random);
    for (const auto& [a, b] : edges) made.edges.emplace_back(first + a, first + b);
    for (std::size_t c = 0; m > 0 && c < modules.channels; ++c) {
      made.edges.emplace_back(first - modules.channels + c, first + c);
    }
    for (std::size_t v = 0; v < modules.nodes; ++v) {
      std::string name = "m";
      made.names.push_back(name.append(std::to_string(m)).append("n").append(std::to_string(v)));
    }
  }
  return made;
}

void set_modules_costs(const RandomDag& parameters, GraphDraft& draft) {
  Random random(parameters.seed, "random_dag modules");
  std::vector<double> transfer_ms;
  for (std::size_t v = 0; v < draft.operators.size(); ++v) {
    Operator& op = draft.operators[v];
    op.block = std::string("m").append(std::to_string(v / parameters.modules.nodes));
    op.has_time = false;
    op.time_ms = 0;
    op.utilization = 1;
    const double fast_ms = random.uniform(0.2, 1.4);
    op.time_by_device.emplace("gpu0", fast_ms);
    op.time_by_device.emplace("gpu1", fast_ms * lognormal(random, 1.26, 0.5));
    op.time_by_device.emplace("cpu", fast_ms * lognormal(random, 7.1, 1));
    transfer_ms.push_back(random.uniform(0.08, 0.22));
  }
  for (Edge& edge : draft.edges) edge.transfer_ms = transfer_ms[edge.from.index()];
  draft.stage_cost = {};
}

}  // namespace hios::families
