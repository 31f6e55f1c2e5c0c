// The stages before a stage are those before its predecessors, and these. They are joined in the
// order of levels, in which predecessors come first. Test:
// tests/engine/run/ready/ready_order_test.cpp.
#include "engine/run/plan/edge_chains.h"

#include <algorithm>
#include <tuple>

namespace hios {

EdgeChains::EdgeChains(const Graph& graph, const Schedule& schedule, const StageOrder& order)
    : graph_(graph), schedule_(schedule), order_(order) {
  std::size_t stages = 0;
  std::vector<std::tuple<std::size_t, std::size_t, std::size_t>> by_level;
  for (std::size_t d = 0; d < schedule.devices.size(); ++d) {
    first_.push_back(stages);
    stages += schedule.devices[d].size();
    for (std::size_t s = 0; s < schedule.devices[d].size(); ++s) {
      by_level.emplace_back(order.level(d, s), d, s);
    }
  }
  before_.assign(stages, std::vector<bool>(stages, false));
  std::sort(by_level.begin(), by_level.end());
  for (const auto& [level, d, s] : by_level) {
    std::vector<bool>& mine = before_[first_[d] + s];
    for (const Group& group : schedule.devices[d][s].groups) {
      for (const OpId op : group) {
        for (const EdgeId edge : graph.in_edges(op)) {
          const std::size_t other = number(order.of(graph.edge(edge).from));
          if (other == first_[d] + s || mine[other]) continue;
          mine[other] = true;
          for (std::size_t i = 0; i < stages; ++i) mine[i] = mine[i] || before_[other][i];
        }
      }
    }
  }
}

bool EdgeChains::not_needed(OpId old, OpId next, DeviceId device) const {
  const bool computed_here = order_.of(old).device == device;
  if (computed_here && !ends_before(old, next)) return false;
  std::vector<bool> sent_to(schedule_.devices.size(), false), arrived(sent_to);
  for (const EdgeId edge : graph_.out_edges(old)) {
    const OpId consumer = graph_.edge(edge).to;
    const DeviceId peer = order_.of(consumer).device;
    const bool chain = ends_before(consumer, next);
    if (peer == device) {
      if (!chain) return false;
    } else if (computed_here) {
      sent_to[peer.index()] = true;
      arrived[peer.index()] = arrived[peer.index()] || chain;
    }
  }
  return sent_to == arrived;
}

bool EdgeChains::ends_before(OpId a, OpId b) const {
  const std::size_t from = number(order_.of(a)), to = number(order_.of(b));
  return from == to ? comes_first_in_stage(a, b) : before_[to][from];
}

// Groups of a stage run in no known order.
bool EdgeChains::comes_first_in_stage(OpId a, OpId b) const {
  const AssignedTo& at = order_.of(a);
  const Stage& stage = schedule_.devices[at.device.index()][at.stage];
  if (stage.groups.size() != 1) return false;
  const Group& group = stage.groups.front();
  return std::ranges::find(group, a) < std::ranges::find(group, b);
}

}  // namespace hios
