#include "support/oracles/cold/cold_brute_force.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "hios/evaluate/simulate.h"
#include "hios/graph/parameters.h"

namespace hios::test {
namespace {

/// A way of a device's parameters.
struct Way {
  StoreId store;
  bool in_place = false;
  std::optional<DeviceId> through = {};
};

class ColdBruteForce {
 public:
  ColdBruteForce(const Graph& graph, const CostModel& costs, std::span<const Resident> resident)
      : graph_(graph),
        costs_(costs),
        resident_(resident),
        topology_(*costs.platform().topology()),
        sets_(graph),
        device_(graph.size(), DeviceId(0)) {}

  double least_ms() {
    place(0);
    return least_ms_;
  }

 private:
  void place(std::size_t v) {
    if (v == graph_.size()) return order();
    for (std::size_t d = 0; d < costs_.platform().size(); ++d) {
      device_[v] = DeviceId(d);
      if (costs_.can_run(OpId(v), DeviceId(d))) place(v + 1);
    }
  }

  void order() {
    std::vector<OpId> order(graph_.topological().begin(), graph_.topological().end());
    std::ranges::sort(order);
    do {
      Schedule schedule;
      schedule.devices.resize(costs_.platform().size());
      if (!is_topological(order)) continue;
      for (const OpId op : order) schedule.devices[device_[op.index()].index()].push_back({{{op}}});
      choose_ways(schedule, 0);
    } while (std::next_permutation(order.begin(), order.end()));
  }

  bool is_topological(const std::vector<OpId>& order) const {
    return std::ranges::all_of(graph_.edges(), [&](const Edge& edge) {
      return std::ranges::find(order, edge.from) < std::ranges::find(order, edge.to);
    });
  }

  /// Chooses a way for each operator's parameters; the first of a set on a device decides for it,
  /// unless it reads in place.
  void choose_ways(const Schedule& schedule, std::size_t v) {
    if (v == graph_.size()) return order_loads(schedule);
    const OpId op(v);
    const DeviceId to = device_[v];
    if (!sets_.of(op) || holds(to, op)) return choose_ways(schedule, v + 1);
    const auto choose = [&](const Way& way) {
      ways_[op] = way;
      choose_ways(schedule, v + 1);
      ways_.erase(op);
    };
    for (std::size_t s = 0; s < topology_.stores().size(); ++s) {
      if (topology_.find(StoreId(s), to)) {
        choose({StoreId(s)});
        if (in_place_ms(graph_.op(op), costs_.platform().device(to))) choose({StoreId(s), true});
      }
      for (std::size_t d = 0; d < costs_.platform().size(); ++d) {
        const DeviceId peer(d);
        if (peer == to || !topology_.find(peer, to)) continue;
        if (!holds(peer, op) && !topology_.find(StoreId(s), peer)) continue;
        choose({StoreId(s), false, peer});
      }
    }
  }

  bool holds(DeviceId device, OpId op) const {
    return std::ranges::any_of(resident_, [&](const Resident& each) {
      return each.on == device && sets_.of(each.of) == sets_.of(op);
    });
  }

  void order_loads(Schedule schedule) {
    schedule.weights.emplace();
    schedule.weights->resident = {resident_.begin(), resident_.end()};
    std::vector<OpId> readers;
    for (const auto& [op, way] : ways_) {
      if (way.in_place) {
        schedule.weights->in_place.push_back({op, way.store});
      } else {
        readers.push_back(op);
      }
    }
    do {
      const std::vector<Load> loads = loads_of(readers);
      Schedule apart = schedule;
      std::map<std::pair<Holder, DeviceId>, Lane> by_route;
      for (const Load& load : loads) {
        apart.weights->lanes.push_back({load});
        by_route[{load.from, load.to}].push_back(load);
      }
      Schedule together = schedule;
      for (auto& [ends, lane] : by_route) together.weights->lanes.push_back(std::move(lane));
      judge(apart);
      judge(together);
    } while (std::next_permutation(readers.begin(), readers.end()));
  }

  std::vector<Load> loads_of(const std::vector<OpId>& readers) const {
    std::vector<Load> loads;
    std::vector<std::pair<DeviceId, std::size_t>> there;
    const auto load = [&](OpId op, const Holder& from, DeviceId to) {
      const std::pair arrival(to, *sets_.of(op));
      if (std::ranges::find(there, arrival) != there.end()) return;
      there.push_back(arrival);
      loads.push_back({op, from, to});
    };
    for (const OpId op : readers) {
      const Way& way = ways_.at(op);
      if (way.through && !holds(*way.through, op)) load(op, way.store, *way.through);
      load(op, way.through ? Holder(*way.through) : Holder(way.store), device_[op.index()]);
    }
    return loads;
  }

  void judge(const Schedule& schedule) {
    least_ms_ = std::min(least_ms_, simulate(graph_, schedule, costs_).latency_ms);
  }

  const Graph& graph_;
  const CostModel& costs_;
  const std::span<const Resident> resident_;
  const Topology& topology_;
  const ParameterSets sets_;
  std::vector<DeviceId> device_;  // by operator
  std::map<OpId, Way> ways_;
  double least_ms_ = std::numeric_limits<double>::infinity();
};

}  // namespace

double cold_optimum_ms(const Graph& graph, const CostModel& costs,
                       std::span<const Resident> resident) {
  return ColdBruteForce(graph, costs, resident).least_ms();
}

}  // namespace hios::test
