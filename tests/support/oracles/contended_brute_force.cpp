#include "support/oracles/contended_brute_force.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "hios/schedule/assignment.h"
#include "hios/schedule/transfers.h"

// Unlike in brute_force.cpp, a stage that is added to a schedule can delay earlier stages, because
// a tensor sent to it may go before others. So complete schedules are built, one device after the
// other, and then timed. A schedule that is too long without contention is too long with it.

namespace hios::test {
namespace {

using Mask = unsigned;

class ContendedSearch {
 public:
  ContendedSearch(const Graph& graph, const Platform& platform, const PlainCosts& costs,
                  Contention contention)
      : graph_(graph), platform_(platform), costs_(costs), contention_(contention) {
    inputs_.resize(graph.size());
    for (const Edge& edge : graph.edges()) inputs_[edge.to.index()] |= bit(edge.from);
    schedule_.devices.resize(platform.size());
    best_.first_ready_ms = best_.any_order_ms = std::numeric_limits<double>::infinity();
  }

  ContendedOptimum run() {
    fill(DeviceId(0), (Mask{1} << graph_.size()) - 1);
    return best_;
  }

 private:
  static Mask bit(OpId op) { return Mask{1} << op.index(); }

  /// Gives device d each subset of the remaining operators, the last device all of them.
  void fill(DeviceId d, Mask left) {
    const bool last = d.index() + 1 == platform_.size();
    for (Mask own = left;; own = (own - 1) & left) {
      if (!last || own == left) add_stages(d, own, left & ~own);
      if (own == 0) return;
    }
  }

  /// Appends every possible next stage from `own` to the device, then goes on with the next
  /// devices.
  void add_stages(DeviceId d, Mask own, Mask others) {
    if (own == 0) {
      if (d.index() + 1 == platform_.size()) return judge();
      return fill(DeviceId(d.index() + 1), others);
    }
    for (Mask set = own; set != 0; set = (set - 1) & own) {
      bool in_order = true;
      for (std::size_t i = 0; i < graph_.size(); ++i) {
        if (set >> i & 1) in_order = in_order && (inputs_[i] & own & ~set) == 0;
      }
      if (in_order) add_groups(d, set, own & ~set, others, 0, {});
    }
  }

  void add_groups(DeviceId d, Mask set, Mask own, Mask others, std::size_t next, Stage stage) {
    const auto order = graph_.topological();
    while (next < order.size() && !(set & bit(order[next]))) ++next;
    if (next == order.size()) {
      if (!independent(stage)) return;
      schedule_.devices[d.index()].push_back(std::move(stage));
      add_stages(d, own, others);
      schedule_.devices[d.index()].pop_back();
      return;
    }
    const auto streams = static_cast<std::size_t>(platform_.device(d).streams);
    for (std::size_t g = 0; g <= stage.groups.size() && g < streams; ++g) {
      Stage larger = stage;
      if (g == stage.groups.size()) larger.groups.emplace_back();
      larger.groups[g].push_back(order[next]);
      add_groups(d, set, own, others, next + 1, std::move(larger));
    }
  }

  bool independent(const Stage& stage) const {
    for (const Group& group : stage.groups) {
      for (const Group& other : stage.groups) {
        if (&group == &other) continue;
        for (OpId op : group) {
          for (OpId input : other) {
            if (inputs_[op.index()] & bit(input)) return false;
          }
        }
      }
    }
    return true;
  }

  void judge() {
    if (!runs_to_its_end(graph_, schedule_)) return;
    const double alone = *slow_latency_ms(graph_, schedule_, costs_);
    if (alone < best_.first_ready_ms) {
      best_.first_ready_ms =
          std::min(best_.first_ready_ms, *slow_latency_ms(graph_, schedule_, costs_, contention_));
    }
    best_.any_order_ms = std::min(best_.any_order_ms, best_.first_ready_ms);
    if (alone >= best_.any_order_ms) return;
    schedule_.transfers = transfers_of(graph_, Assignment(graph_.size(), schedule_));
    if (!schedule_.transfers.empty()) {
      do {
        const auto ms = slow_latency_ms(graph_, schedule_, costs_, contention_);
        if (ms) best_.any_order_ms = std::min(best_.any_order_ms, *ms);
      } while (std::next_permutation(schedule_.transfers.begin(), schedule_.transfers.end()));
    }
    schedule_.transfers.clear();
  }

  const Graph& graph_;
  const Platform& platform_;
  const PlainCosts& costs_;
  Contention contention_;
  std::vector<Mask> inputs_;  // by operator
  Schedule schedule_;
  ContendedOptimum best_;
};

}  // namespace

ContendedOptimum contended_brute_force(const Graph& graph, const Platform& platform,
                                       const PlainCosts& costs, Contention contention) {
  return ContendedSearch(graph, platform, costs, contention).run();
}

}  // namespace hios::test
