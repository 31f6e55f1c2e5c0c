#include "scheduler/milp/stages/possible_stages.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "scheduler/structures/numbers.h"

namespace hios::scheduler::milp {
namespace {

OpSet only(OpId op) { return OpSet{1} << op.index(); }

class StageLister {
 public:
  StageLister(const Graph& graph, const CostModel& costs)
      : graph_(graph), costs_(costs), inputs_(graph.size(), 0), above_(graph.size(), 0) {
    for (const OpId op : graph.topological()) {
      for (const EdgeId e : graph.in_edges(op)) {
        const OpId from = graph.edge(e).from;
        inputs_[op.index()] |= only(from);
        above_[op.index()] |= only(from) | above_[from.index()];
      }
    }
    for (const Device& device : costs.platform().devices()) {
      most_groups_ = std::max(most_groups_, static_cast<std::size_t>(device.streams));
    }
  }

  std::optional<std::vector<PossibleStage>> list() {
    for (std::size_t v = 0; v < graph_.size(); ++v) add({{{OpId(v)}}}, only(OpId(v)));
    extend({}, {}, 0);
    if (looked_at_ > kMostStages) return {};
    return std::move(stages_);
  }

 private:
  /// Adds all stages that put operators from this position of the topological order on into the
  /// groups, or new ones.
  void extend(const Stage& stage, const std::vector<OpSet>& groups, std::size_t next) {
    if (++looked_at_ > kMostStages) return;
    const auto order = graph_.topological();
    if (next == order.size()) {
      OpSet all = 0;
      for (const OpSet group : groups) all |= group;
      if (std::popcount(all) > 1 && is_convex(groups, all)) add(stage, all);
      return;
    }
    extend(stage, groups, next + 1);
    const OpId op = order[next];
    for (std::size_t g = 0; g <= groups.size() && g < most_groups_; ++g) {
      if (!independent(op, groups, g)) continue;
      Stage larger = stage;
      std::vector<OpSet> grown = groups;
      if (g == groups.size()) {
        larger.groups.emplace_back();
        grown.push_back(0);
      }
      larger.groups[g].push_back(op);
      grown[g] |= only(op);
      extend(larger, grown, next + 1);
    }
  }

  /// Returns true if the operator needs none of the other groups, directly or not.
  bool independent(OpId op, const std::vector<OpSet>& groups, std::size_t own) const {
    for (std::size_t g = 0; g < groups.size(); ++g) {
      if (g != own && (above_[op.index()] & groups[g]) != 0) return false;
    }
    return true;
  }

  /// Returns true if no operator outside is needed by one of the stage and needs another.
  bool is_convex(const std::vector<OpSet>& groups, OpSet all) const {
    OpSet needed = 0;
    for (std::size_t v = 0; v < graph_.size(); ++v) {
      for (const OpSet group : groups) {
        if ((group >> v & 1) != 0) needed |= above_[v];
      }
    }
    for (std::size_t v = 0; v < graph_.size(); ++v) {
      const bool outside = (needed & ~all) >> v & 1;
      if (outside && (above_[v] & all) != 0) return false;
    }
    return true;
  }

  void add(const Stage& stage, OpSet all) {
    PossibleStage possible{all, 0, stage, {}};
    for (std::size_t v = 0; v < graph_.size(); ++v) {
      if ((all >> v & 1) != 0) possible.inputs |= inputs_[v] & ~all;
    }
    bool helps = false;
    for (std::size_t d = 0; d < costs_.platform().size(); ++d) {
      possible.cost_ms.push_back(cost_ms(stage, all, DeviceId(d)));
      helps = helps || possible.cost_ms.back() < kInfinity;
    }
    if (helps) stages_.push_back(std::move(possible));
  }

  double cost_ms(const Stage& stage, OpSet all, DeviceId device) const {
    const auto streams = static_cast<std::size_t>(costs_.platform().device(device).streams);
    if (stage.groups.size() > streams) return kInfinity;
    double apart_ms = 0;
    for (std::size_t v = 0; v < graph_.size(); ++v) {
      if ((all >> v & 1) == 0) continue;
      if (!costs_.can_run(OpId(v), device)) return kInfinity;
      apart_ms += costs_.operator_ms(OpId(v), device);
    }
    const double ms = costs_.stage_ms(stage, device);
    return std::popcount(all) > 1 && ms >= apart_ms ? kInfinity : ms;
  }

  const Graph& graph_;
  const CostModel& costs_;
  std::vector<OpSet> inputs_, above_;  // by operator: direct ones, and all that it needs
  std::size_t most_groups_ = 1;
  std::size_t looked_at_ = 0;
  std::vector<PossibleStage> stages_;
};

}  // namespace

std::optional<std::vector<PossibleStage>> possible_stages(const Graph& graph,
                                                          const CostModel& costs) {
  return StageLister(graph, costs).list();
}

}  // namespace hios::scheduler::milp
