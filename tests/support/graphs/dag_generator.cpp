#include "support/graphs/dag_generator.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

namespace hios::test {
namespace {

double random_time(const CostStyle& style, Random& random) {
  if (style.small_integers) return static_cast<double>(random.below(3));
  return random.uniform(0.1, 4);
}

Operator random_operator(std::size_t index, const CostStyle& style, Random& random) {
  Operator op;
  op.name = std::string("v").append(std::to_string(index));
  op.utilization = random.uniform(0.2, 1);
  op.has_time = true;
  op.time_ms = random_time(style, random);
  if (style.by_device && random.below(3) == 0) {
    // gpu0 can run everything, so that algorithms for one device have a device.
    op.has_time = random.below(2) == 0;
    op.time_by_device["gpu0"] = random_time(style, random);
    if (random.below(2) == 0) op.time_by_device["gpu1"] = random_time(style, random);
  }
  return op;
}

StageCostRule random_rule(const CostStyle& style, Random& random) {
  if (!style.overlap) return {};
  return {StageCostRule::Kind::kOverlap, random.uniform()};
}

Edge random_edge(std::size_t from, std::size_t to, const CostStyle& style, Random& random) {
  Edge edge;
  edge.from = OpId(from);
  edge.to = OpId(to);
  edge.size_bytes = 1000 * random.below(4);
  edge.transfer_ms = random_time(style, random) * (style.small_integers ? 1 : 0.8);
  return edge;
}

}  // namespace

CostStyle style_by_number(std::uint64_t number) {
  CostStyle style;
  style.overlap = number % 4 != 0;
  style.small_integers = number % 3 == 0;
  return style;
}

Graph dag(std::size_t n, std::uint64_t edge_set, const CostStyle& style, Random& random) {
  std::vector<Operator> operators;
  std::vector<Edge> edges;
  for (std::size_t to = 0; to < n; ++to) {
    operators.push_back(random_operator(to, style, random));
    for (std::size_t from = 0; from < to; ++from, edge_set >>= 1) {
      if (edge_set & 1) edges.push_back(random_edge(from, to, style, random));
    }
  }
  return Graph("dag", std::move(operators), std::move(edges), random_rule(style, random));
}

Graph random_graph(std::size_t n, double density, const CostStyle& style, Random& random) {
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = n; i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  std::vector<Operator> operators;
  for (std::size_t i = 0; i < n; ++i) operators.push_back(random_operator(i, style, random));
  std::vector<Edge> edges;
  for (std::size_t to = 0; to < n; ++to) {
    for (std::size_t from = 0; from < to; ++from) {
      if (random.uniform() >= density) continue;
      edges.push_back(random_edge(order[from], order[to], style, random));
      if (random.below(8) == 0) edges.push_back(edges.back());
    }
  }
  return Graph("random", std::move(operators), std::move(edges), random_rule(style, random));
}

Platform devices(std::size_t count, int streams) {
  return Platform::homogeneous(count, "gpu", 0, streams);
}

Platform with_receive(const Platform& platform, double share) {
  std::vector<Device> list(platform.devices().begin(), platform.devices().end());
  for (Device& device : list) device.io_charge = IoCharge{0.5, share};
  return platform.with_devices(std::move(list));
}

Platform devices(std::size_t count, int streams, Contention contention) {
  const Platform alike = devices(count, streams);
  return Platform({alike.devices().begin(), alike.devices().end()}, {}, {}, {contention});
}

Platform devices_with_memory(const std::vector<Bytes>& limits) {
  std::vector<Device> devices;
  for (const Bytes limit : limits) {
    devices.push_back(
        {std::string("gpu").append(std::to_string(devices.size())), "gpu", 0, 1, limit, ""});
  }
  return Platform(std::move(devices));
}

Platform unlike_devices(Contention contention) {
  return Platform(
      {{"gpu0", "gpu", 0, 1, 0, ""}, {"gpu1", "gpu", 0, 1, 0, ""}, {"cpu0", "cpu", 1, 1, 0, ""}},
      {}, {}, {contention});
}

namespace {

Configuration random_configuration(const Graph& graph, const Platform& platform, Random& random) {
  Configuration configuration;
  configuration.backend = "cuda";
  configuration.kind = "gpu";
  configuration.threads = 0;
  configuration.ranks = platform.size();
  for (const Operator& op : graph.operators()) {
    configuration.operators[op.signature].ms = random.uniform(0.1, 4);
  }
  for (std::size_t a = 0; a < platform.size(); ++a) {
    for (std::size_t b = 0; b < platform.size(); ++b) {
      if (a == b) continue;
      const double latency = random.uniform(0, 0.5);
      configuration.transfers.push_back({a, b, {{0, latency}, {4000, latency + random.uniform()}}});
    }
  }
  return configuration;
}

}  // namespace

Profile random_profile(Graph& graph, const Platform& platform, Random& random) {
  std::vector<Operator> operators(graph.operators().begin(), graph.operators().end());
  std::vector<Edge> edges(graph.edges().begin(), graph.edges().end());
  for (Operator& op : operators) {
    op.signature = "kind" + std::to_string(random.below(graph.size()));
    op.has_time = false;
    op.time_by_device.clear();
  }
  for (Edge& edge : edges) edge.transfer_ms.reset();
  graph = Graph(graph.name(), std::move(operators), std::move(edges));
  Profile profile;
  Configuration configuration = random_configuration(graph, platform, random);
  for (int i = 0; i < 40; ++i) {
    const Schedule schedule = random_schedule(graph, platform, random);
    for (const auto& stages : schedule.devices) {
      for (const Stage& stage : stages) {
        if (stage.groups.size() < 2 || random.below(2) == 0) continue;
        StageKey key;
        double sum = 0;
        for (const Group& group : stage.groups) {
          auto& signatures = key.emplace_back();
          for (OpId op : group) {
            signatures.push_back(graph.op(op).signature);
            sum += configuration.operators[graph.op(op).signature].ms;
          }
        }
        configuration.stages[canonical(key)].ms = sum * random.uniform(0.3, 1.5);
      }
    }
  }
  profile.configurations.push_back(std::move(configuration));
  return profile;
}

Profile with_shared_memory(Profile profile, Random& random) {
  for (Configuration& configuration : profile.configurations) {
    configuration.io_charge = MeasuredCharge{{0, random.uniform()}, 30};
    for (TransferCurve& curve : configuration.transfers) {
      if (random.below(2) == 0) continue;
      const double latency = random.uniform(0, 0.5);
      curve.shared = {{0, latency}, {4000, latency + random.uniform()}};
    }
  }
  return profile;
}

namespace {

/// Grows a stage from operators that are ready, and operators that wait only for its own groups.
class StageGrower {
 public:
  StageGrower(const Graph& graph, Random& random)
      : graph_(graph), random_(random), done_(graph.size(), false) {}

  bool finished() const { return count_ == graph_.size(); }

  Stage next_stage(std::size_t most_groups) {
    Stage stage;
    std::vector<bool> taken(graph_.size(), false);
    const std::size_t wanted = 1 + random_.below(most_groups);
    while (stage.groups.size() < wanted) {
      std::vector<OpId> ready;
      for (OpId op : graph_.topological()) {
        if (!taken[op.index()] && is_ready(op, {})) ready.push_back(op);
      }
      if (ready.empty()) break;
      Group group{ready[random_.below(ready.size())]};
      taken[group.front().index()] = true;
      extend(group, taken);
      stage.groups.push_back(std::move(group));
    }
    for (const Group& group : stage.groups) {
      for (OpId op : group) done_[op.index()] = true;
      count_ += group.size();
    }
    return stage;
  }

 private:
  bool is_ready(OpId op, const Group& group) const {
    if (done_[op.index()]) return false;
    for (EdgeId e : graph_.in_edges(op)) {
      const OpId input = graph_.edge(e).from;
      const bool own = std::find(group.begin(), group.end(), input) != group.end();
      if (!done_[input.index()] && !own) return false;
    }
    return true;
  }

  void extend(Group& group, std::vector<bool>& taken) {
    for (OpId op : graph_.topological()) {
      if (random_.below(3) != 0 || taken[op.index()] || !is_ready(op, group)) continue;
      group.push_back(op);
      taken[op.index()] = true;
    }
  }

  const Graph& graph_;
  Random& random_;
  std::vector<bool> done_;
  std::size_t count_ = 0;
};

}  // namespace

Schedule random_schedule(const Graph& graph, const Platform& platform, Random& random) {
  Schedule schedule;
  schedule.devices.resize(platform.size());
  StageGrower grower(graph, random);
  while (!grower.finished()) {
    const DeviceId device(random.below(platform.size()));
    const auto streams = static_cast<std::size_t>(platform.device(device).streams);
    schedule.devices[device.index()].push_back(grower.next_stage(streams));
  }
  return schedule;
}

}  // namespace hios::test
