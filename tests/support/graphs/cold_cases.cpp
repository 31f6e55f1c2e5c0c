#include "support/graphs/cold_cases.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "hios/graph/parameters.h"
#include "hios/schedule/assignment.h"
#include "support/graphs/dag_generator.h"

namespace hios::test {
namespace {

/// Returns a bandwidth in GB/s.
double random_speed(bool whole_numbers, Random& random) {
  if (whole_numbers) return static_cast<double>(1 + random.below(4));
  return random.uniform(0.5, 8);
}

/// Returns a latency in ms.
double random_latency(bool whole_numbers, Random& random) {
  if (random.below(3) > 0) return 0;
  return whole_numbers ? 0.5 * static_cast<double>(random.below(3)) : random.uniform(0, 1);
}

/// Returns bytes that take some ms, sometimes none.
Bytes random_bytes(bool whole_numbers, Random& random) {
  if (random.below(8) == 0) return 0;
  return whole_numbers ? 1000000 * random.below(7) : 1 + random.below(8000000);
}

/// Adds loads, residents and reads in place in an order in which the stages can run.
class WeightsMaker {
 public:
  WeightsMaker(const Graph& graph, const Platform& platform, const Schedule& schedule,
               std::size_t lanes, Random& random)
      : graph_(graph),
        topology_(*platform.topology()),
        schedule_(schedule),
        assignment_(graph.size(), schedule),
        sets_(graph),
        random_(random),
        holds_(platform.size(), std::vector<bool>(sets_.sets().size(), false)) {
    weights_.lanes.resize(lanes);
    weights_.load_first = random.below(6) == 0;
    order_stages();
  }

  Weights weights() {
    for (const std::size_t stage : order_) provide(stage);
    if (!weights_.load_first) add_evictions();
    return std::move(weights_);
  }

 private:
  struct NumberedStage {
    DeviceId device;
    std::vector<OpId> operators;
  };
  /// A set that a device needs for a stage, or for a copy to another device, by stage.
  struct UsedBy {
    DeviceId device;
    std::size_t set;
    std::size_t stage;
  };

  void order_stages() {
    for (std::size_t d = 0; d < schedule_.devices.size(); ++d) {
      for (const Stage& stage : schedule_.devices[d]) {
        NumberedStage& numbered = stages_.emplace_back();
        numbered.device = DeviceId(d);
        for (const Group& group : stage.groups) {
          numbered.operators.insert(numbered.operators.end(), group.begin(), group.end());
        }
      }
    }
    const std::size_t count = stages_.size();
    before_.assign(count, std::vector<bool>(count, false));
    for (std::size_t s = 0; s + 1 < count; ++s) {
      if (stages_[s].device == stages_[s + 1].device) before_[s][s + 1] = true;
    }
    for (const Edge& edge : graph_.edges()) {
      const std::size_t from = assignment_.stage_number(edge.from);
      const std::size_t to = assignment_.stage_number(edge.to);
      if (from != to) before_[from][to] = true;
    }
    for (std::size_t k = 0; k < count; ++k) {
      for (std::size_t a = 0; a < count; ++a) {
        for (std::size_t b = 0; b < count && before_[a][k]; ++b) {
          if (before_[k][b]) before_[a][b] = true;
        }
      }
    }
    const auto earlier = [&](std::size_t s) {
      return std::count_if(before_.begin(), before_.end(),
                           [s](const std::vector<bool>& row) { return row[s]; });
    };
    for (std::size_t s = 0; s < count; ++s) order_.push_back(s);
    std::ranges::stable_sort(order_, {}, earlier);
  }

  void provide(std::size_t number) {
    const NumberedStage& stage = stages_[number];
    for (const OpId op : stage.operators) {
      const auto set = sets_.of(op);
      if (!set) continue;
      if (stage.operators.size() == 1 && random_.below(4) == 0) {
        weights_.in_place.push_back({op, random_store()});
        continue;
      }
      used_.push_back({stage.device, *set, number});
      if (holds_[stage.device.index()][*set]) continue;
      if (random_.below(7) == 0) {
        weights_.resident.push_back({op, stage.device});
        holds_[stage.device.index()][*set] = true;
      } else {
        load(op, stage.device, number);
      }
    }
  }

  StoreId random_store() { return StoreId(random_.below(topology_.stores().size())); }

  void load(OpId op, DeviceId to, std::size_t stage) {
    const std::size_t set = *sets_.of(op);
    const DeviceId peer(random_.below(holds_.size()));
    if (peer == to || random_.below(2) == 0) return add_load(op, random_store(), to);
    if (!holds_[peer.index()][set]) add_load(op, random_store(), peer);
    used_.push_back({peer, set, stage});
    add_load(op, peer, to);
  }

  void add_load(OpId op, const Holder& from, DeviceId to) {
    weights_.lanes[random_.below(weights_.lanes.size())].push_back({op, from, to});
    holds_[to.index()][*sets_.of(op)] = true;
  }

  /// Adds evictions after stages before which all uses have ended.
  void add_evictions() {
    for (std::size_t d = 0; d < holds_.size(); ++d) {
      for (std::size_t set = 0; set < sets_.sets().size(); ++set) {
        if (!holds_[d][set] || random_.below(5) == 0) continue;
        std::vector<std::size_t> possible;
        for (std::size_t s = 0; s < stages_.size(); ++s) {
          if (stages_[s].device == DeviceId(d) && all_used_before(DeviceId(d), set, s)) {
            possible.push_back(s);
          }
        }
        if (possible.empty()) continue;
        // Most are early, so that loads that wait for room go on.
        const std::size_t chosen = random_.below(3) > 0 ? 0 : random_.below(possible.size());
        const auto& after = stages_[possible[chosen]].operators;
        weights_.evictions.push_back(
            {sets_.sets()[set].operators.front(), DeviceId(d), after[random_.below(after.size())]});
      }
    }
  }

  /// Returns true if the uses of the set on the device have ended when the stage has.
  bool all_used_before(DeviceId device, std::size_t set, std::size_t stage) const {
    return std::ranges::all_of(used_, [&](const UsedBy& use) {
      return use.device != device || use.set != set || use.stage == stage ||
             before_[use.stage][stage];
    });
  }

  const Graph& graph_;
  const Topology& topology_;
  const Schedule& schedule_;
  const Assignment assignment_;
  const ParameterSets sets_;
  Random& random_;
  std::vector<NumberedStage> stages_;
  std::vector<std::vector<bool>> before_;  // through edges and the order on devices
  std::vector<std::size_t> order_;
  std::vector<std::vector<bool>> holds_;  // device × set
  std::vector<UsedBy> used_;
  Weights weights_;
};

/// Returns the bytes of each set that a device ever holds.
std::map<std::size_t, Bytes> held_sets(const ParameterSets& sets, const Weights& weights,
                                       DeviceId device) {
  std::map<std::size_t, Bytes> held;
  const auto add = [&](OpId op) { held[*sets.of(op)] = sets.sets()[*sets.of(op)].size_bytes; };
  for (const Lane& lane : weights.lanes) {
    for (const Load& load : lane) {
      if (load.to == device) add(load.of);
    }
  }
  for (const Resident& resident : weights.resident) {
    if (resident.on == device) add(resident.of);
  }
  return held;
}

}  // namespace

Platform random_topology(std::size_t devices, int streams, bool whole_numbers, Random& random) {
  const Platform alike = test::devices(devices, streams);
  std::vector<Bus> buses;
  for (std::size_t b = 1 + random.below(5); b > 0; --b) {
    buses.push_back({"bus" + std::to_string(b), random_speed(whole_numbers, random)});
  }
  std::vector<Route> routes;
  const auto add_route = [&](const Holder& from, std::size_t to) {
    Route route{from,
                DeviceId(to),
                {},
                random_latency(whole_numbers, random),
                random_speed(whole_numbers, random)};
    for (std::size_t b = 0; b < buses.size(); ++b) {
      if (random.below(2) == 0) route.over.push_back(BusId(b));
    }
    routes.push_back(route);
  };
  for (std::size_t to = 0; to < devices; ++to) {
    for (std::size_t s = 0; s < 2; ++s) add_route(StoreId(s), to);
    for (std::size_t from = 0; from < devices; ++from) {
      if (from != to) add_route(DeviceId(from), to);
    }
  }
  return Platform({alike.devices().begin(), alike.devices().end()},
                  {{"dram", "", StoreKind::kMemory}, {"ssd", "", StoreKind::kDisk}},
                  std::move(buses), std::move(routes));
}

Graph with_parameters(const Graph& graph, bool whole_numbers, Random& random) {
  std::vector<Operator> operators(graph.operators().begin(), graph.operators().end());
  std::vector<Edge> edges(graph.edges().begin(), graph.edges().end());
  std::map<std::string, Bytes> labels;
  for (Operator& op : operators) {
    op.memory_bytes = random_bytes(whole_numbers, random);
    op.parameter_bytes = random_bytes(whole_numbers, random);
    if (op.parameter_bytes > 0 && random.below(4) == 0) {
      op.parameters = "shared" + std::to_string(random.below(2));
      op.parameter_bytes = labels.emplace(op.parameters, op.parameter_bytes).first->second;
    }
    const auto ms = [&] {
      return whole_numbers ? static_cast<double>(random.below(5)) : random.uniform(0, 8);
    };
    op.in_place_ms = ms();
    if (random.below(4) == 0) op.in_place_by_device["gpu1"] = ms();
    if (random.below(2) == 0) op.in_place_bytes = random_bytes(whole_numbers, random);
  }
  std::map<OpId, Bytes> sizes;
  for (Edge& edge : edges) {
    const Bytes size = sizes.emplace(edge.from, random_bytes(whole_numbers, random)).first->second;
    edge.size_bytes = size;
    if (random.below(4) > 0) edge.transfer_ms.reset();
  }
  return Graph(graph.name(), std::move(operators), std::move(edges), graph.stage_cost());
}

Weights random_weights(const Graph& graph, const Platform& platform, const Schedule& schedule,
                       std::size_t lanes, Random& random) {
  return WeightsMaker(graph, platform, schedule, lanes, random).weights();
}

Platform with_memory(const Platform& platform, const Graph& graph, const Schedule& schedule,
                     ColdMemory memory, Random& random) {
  const Topology& topology = *platform.topology();
  const ParameterSets sets(graph);
  std::vector<Device> devices(platform.devices().begin(), platform.devices().end());
  for (std::size_t d = 0; d < devices.size() && memory != ColdMemory::kUnlimited; ++d) {
    Bytes outputs = 0, all = 0, largest = 0;
    for (const Stage& stage : schedule.devices[d]) {
      for (const Group& group : stage.groups) {
        for (const OpId op : group) outputs += graph.op(op).memory_bytes;
      }
    }
    for (const auto& [set, size] : held_sets(sets, *schedule.weights, DeviceId(d))) {
      all += size;
      largest = std::max(largest, size);
    }
    const double share = memory == ColdMemory::kTight ? random.uniform(0.5, 1) : 1;
    const auto part = static_cast<Bytes>(share * static_cast<double>(all));
    devices[d].memory_bytes = std::max<Bytes>(1, outputs + std::max(largest, part));
  }
  return Platform(std::move(devices), {topology.stores().begin(), topology.stores().end()},
                  {topology.buses().begin(), topology.buses().end()},
                  {topology.routes().begin(), topology.routes().end()});
}

Platform with_slowdowns(const Platform& platform, Random& random) {
  const Topology& topology = *platform.topology();
  std::vector<Route> routes(topology.routes().begin(), topology.routes().end());
  for (Route& route : routes) {
    route.start_ms = static_cast<double>(random.below(3));
    route.slowdown = 1 + static_cast<double>(random.below(4)) / 4;
    route.load_slowdown = 1 + static_cast<double>(random.below(4)) / 2;
  }
  return Platform({platform.devices().begin(), platform.devices().end()},
                  {topology.stores().begin(), topology.stores().end()},
                  {topology.buses().begin(), topology.buses().end()}, std::move(routes));
}

ColdCase random_cold_case(const ColdStyle& style, Random& random) {
  CostStyle costs;
  costs.small_integers = style.whole_numbers;
  const std::size_t devices = 1 + random.below(style.most_devices);
  ColdCase cold;
  cold.graph = with_parameters(
      random_graph(1 + random.below(style.most_operators), random.uniform(0, 0.5), costs, random),
      style.whole_numbers, random);
  cold.platform =
      random_topology(devices, 1 + static_cast<int>(random.below(3)), style.whole_numbers, random);
  cold.schedule = random_schedule(cold.graph, cold.platform, random);
  cold.schedule.weights = random_weights(cold.graph, cold.platform, cold.schedule,
                                         1 + random.below(style.most_lanes), random);
  cold.platform = with_memory(cold.platform, cold.graph, cold.schedule, style.memory, random);
  return cold;
}

}  // namespace hios::test
