#include "scheduler/best/starts/class_start.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "hios/base/error.h"
#include "hios/evaluate/simulate.h"
#include "scheduler/bounds/classes/fractional_placement.h"
#include "scheduler/list/earliest_finish.h"
#include "scheduler/list/placement.h"

// A list scheduler sees one operator at a time: on devices that differ it gives the fast ones what
// comes first, not what gains most there, and where memory is short nothing is left for what gains
// more. A relaxation of the whole problem knows, and as it has few inequalities, nearly every
// operator is on one class. So only the device of the class, and the order, are left to the list.
//
// An operator that is divided may go to each class that has a part of it. One for which its class
// has no room goes where most of the rest is.
//
// Priorities are those of the graph with times by the relaxation's classes.
//
// The relaxation excludes classes on which an operator would be too late for a latency, and a
// schedule is found most often for one that it does not reach. So some latencies are tried, as long
// as they are not refuted.
//
// Tests: tests/scheduler/best/starts/class_start_test.cpp.

namespace hios::scheduler::best {
namespace {

constexpr double kKept = 0.3;       // share of the spare memory that is left for rounding
constexpr double kSmallPart = 0.1;  // of an operator, below which it is not on the class
constexpr double kNextAim = 0.9;    // ratio of the latencies that two tries aim at
constexpr std::size_t kMostTries = 4;
constexpr std::size_t kTried = 20'000;  // operators in all tries

/// Returns the fraction of memory that no operator needs; 0 where a device that can run some has no
/// limit.
double spare(const Graph& graph, const CostModel& costs) {
  double room = 0, held = 0;
  for (std::size_t d = 0; d < costs.platform().size(); ++d) {
    const Device& device = costs.platform().device(DeviceId(d));
    const auto runs = [&](OpId op) { return costs.can_run(op, DeviceId(d)); };
    if (std::ranges::none_of(graph.topological(), runs)) continue;
    if (device.memory_bytes == 0) return 0;
    room += static_cast<double>(device.memory_bytes);
  }
  for (const Operator& op : graph.operators()) held += static_cast<double>(held_bytes(op));
  return std::max(0.0, 1 - held / room);
}

class ClassList {
 public:
  ClassList(const Graph& graph, const CostModel& costs, const FractionalPlacement& placement)
      : graph_(graph), costs_(costs), placement_(placement), class_of_(costs.platform().size()) {
    for (std::size_t k = 0; k < placement.classes.size(); ++k) {
      for (DeviceId device : placement.classes[k]) class_of_[device.index()] = k;
    }
  }

  /// Returns nothing where labels and memory leave an operator no device.
  std::optional<Schedule> schedule(double far_ms) const {
    EarliestFinish list(graph_, costs_);
    for (OpId op : order()) {
      const auto away_ms = [&](DeviceId device) {
        const auto k = class_of_[device.index()];
        const double share = k ? placement_.share(op, *k) : 0;
        return share > kSmallPart ? 0 : far_ms * (2 - share);
      };
      if (!list.place(op, away_ms)) return std::nullopt;
    }
    return list.schedule();
  }

 private:
  double time_ms(OpId op) const {
    double ms = 0;
    for (std::size_t k = 0; k < placement_.classes.size(); ++k) {
      const double share = placement_.share(op, k);
      if (share > 0) ms += share * costs_.operator_ms(op, placement_.classes[k].front());
    }
    return ms;
  }

  std::vector<OpId> order() const {
    std::vector<double> rank(graph_.size(), 0);
    std::vector<OpId> order(graph_.topological().begin(), graph_.topological().end());
    for (std::size_t i = order.size(); i-- > 0;) {
      double rest = 0;
      for (EdgeId e : graph_.out_edges(order[i])) {
        rest = std::max(rest, costs_.mean_transfer_ms(e) + rank[graph_.edge(e).to.index()]);
      }
      rank[order[i].index()] = time_ms(order[i]) + rest;
    }
    std::stable_sort(order.begin(), order.end(),
                     [&](OpId a, OpId b) { return rank[a.index()] > rank[b.index()]; });
    return order;
  }

  const Graph& graph_;
  const CostModel& costs_;
  const FractionalPlacement& placement_;
  std::vector<std::optional<std::size_t>> class_of_;  // by device; nothing: it can run no operator
};

}  // namespace

Schedule schedule_by_classes(const Graph& graph, const CostModel& costs, double known_ms,
                             const Deadline& deadline) {
  const double kept = kKept * spare(graph, costs);
  const std::size_t tries = std::clamp<std::size_t>(kTried / (graph.size() + 1), 1, kMostTries);
  Schedule shortest;
  double least_ms = 0, aim_ms = known_ms;
  for (std::size_t i = 0; i < tries; ++i, aim_ms *= kNextAim) {
    const auto placement = fractional_placement(graph, costs, aim_ms, kept, deadline);
    if (!placement) break;
    std::optional<Schedule> found = ClassList(graph, costs, *placement).schedule(known_ms);
    if (!found) continue;
    const double ms = simulate(graph, *found, costs).latency_ms;
    if (!shortest.devices.empty() && ms >= least_ms) continue;
    shortest = std::move(*found);
    least_ms = ms;
  }
  if (shortest.devices.empty()) throw InputError("no schedule by classes of devices is found");
  return shortest;
}

}  // namespace hios::scheduler::best
