#include "support/oracles/cold/two_device_optimum.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "hios/evaluate/simulate.h"
#include "hios/graph/parameters.h"
#include "hios/schedule/schedule.h"

namespace hios::test {
namespace {

constexpr std::size_t kTwo = 2;

class EveryColdStart {
 public:
  EveryColdStart(const Graph& graph, const CostModel& costs, bool one_bus)
      : graph_(graph), costs_(costs), sets_(graph), one_bus_(one_bus), of_(graph.size(), 0) {
    in_place_.assign(graph.size(), false);
    at_.assign(sets_.sets().size(), 0);
  }

  double least_ms() {
    assign(0);
    return least_ms_;
  }

 private:
  void assign(std::size_t v) {
    if (v == graph_.size()) return locate(0);
    for (of_[v] = 0; of_[v] < kTwo; ++of_[v]) {
      in_place_[v] = false;
      assign(v + 1);
      if (!graph_.op(OpId(v)).in_place_ms || !sets_.of(OpId(v))) continue;
      in_place_[v] = true;
      assign(v + 1);
    }
  }

  bool loaded(std::size_t set) const {
    return std::ranges::any_of(sets_.sets()[set].operators,
                               [&](OpId op) { return !in_place_[op.index()]; });
  }

  void locate(std::size_t set) {
    if (set == at_.size()) return order();
    for (at_[set] = 0; at_[set] < (loaded(set) ? kTwo : 1); ++at_[set]) locate(set + 1);
  }

  void order() {
    std::vector<OpId> order(graph_.topological().begin(), graph_.topological().end());
    std::ranges::sort(order);
    do {
      const auto position = [&](OpId op) { return std::ranges::find(order, op) - order.begin(); };
      if (std::ranges::all_of(graph_.edges(), [&](const Edge& edge) {
            return position(edge.from) < position(edge.to);
          })) {
        order_loads(order);
      }
    } while (std::ranges::next_permutation(order).found);
  }

  void order_loads(const std::vector<OpId>& order) {
    std::vector<std::size_t> sets;
    for (std::size_t s = 0; s < at_.size(); ++s) {
      if (loaded(s)) sets.push_back(s);
    }
    do {
      Schedule schedule;
      std::vector<std::vector<OpId>> stages(kTwo);
      Weights weights;
      weights.lanes.resize(2 * kTwo);  // buses, then copies by destination
      for (const std::size_t s : sets) {
        const std::size_t bus = one_bus_ ? 0 : at_[s];
        weights.lanes[bus].push_back({reader(s), StoreId(0), DeviceId(at_[s])});
      }
      for (const OpId op : order) {
        const std::size_t device = of_[op.index()];
        stages[device].push_back(op);
        const auto set = sets_.of(op);
        if (!set) continue;
        if (in_place_[op.index()]) {
          weights.in_place.push_back({op, StoreId(0)});
        } else if (at_[*set] != device) {
          const Load copy{reader(*set), DeviceId(at_[*set]), DeviceId(device)};
          Lane& lane = weights.lanes[kTwo + device];
          if (std::ranges::find(lane, copy) == lane.end()) lane.push_back(copy);
        }
      }
      for (const auto& ops : stages) schedule.devices.push_back(one_operator_stages(ops));
      std::erase_if(weights.lanes, [](const Lane& lane) { return lane.empty(); });
      schedule.weights = std::move(weights);
      least_ms_ = std::min(least_ms_, simulate(graph_, schedule, costs_).latency_ms);
    } while (std::ranges::next_permutation(sets).found);
  }

  OpId reader(std::size_t set) const { return sets_.sets()[set].operators.front(); }

  const Graph& graph_;
  const CostModel& costs_;
  const ParameterSets sets_;
  bool one_bus_;
  std::vector<std::size_t> of_;  // by operator
  std::vector<bool> in_place_;   // by operator
  std::vector<std::size_t> at_;  // by set, the device that loads it
  double least_ms_ = std::numeric_limits<double>::infinity();
};

}  // namespace

double least_two_device_ms(const Graph& graph, const CostModel& costs, bool one_bus) {
  return EveryColdStart(graph, costs, one_bus).least_ms();
}

}  // namespace hios::test
