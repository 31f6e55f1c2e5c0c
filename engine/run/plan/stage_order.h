#pragma once

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <utility>
#include <vector>

#include "hios/graph/graph.h"
#include "hios/schedule/assignment.h"
#include "hios/schedule/schedule.h"

namespace hios {

/// The stages of all devices of a schedule, ordered such that each follows all stages that it waits
/// for. Each stage has a vector clock, which joins the clocks of the stages whose tensors it
/// awaits: the stages of other devices that have certainly started before it computes. O(stages and
/// edges, times devices). Throws std::logic_error where devices wait for each other in a cycle.
class StageOrder {
 public:
  StageOrder(const Graph& graph, const Schedule& schedule)
      : graph_(graph), schedule_(schedule), assignment_(graph.size(), schedule) {
    const std::size_t devices = schedule.devices.size();
    clocks_.resize(devices);
    levels_.resize(devices);
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t d = 0; d < devices; ++d) {
        while (order_next(d)) moved = true;
      }
    }
    for (std::size_t d = 0; d < devices; ++d) {
      if (clocks_[d].size() != schedule.devices[d].size()) {
        throw std::logic_error("a plan of a schedule whose devices wait for each other in a cycle");
      }
    }
  }

  /// Returns the device, stage and group of an operator.
  const AssignedTo& of(OpId op) const { return assignment_[op]; }
  /// Returns the length of the longest chain of stages that must start before this one.
  std::size_t level(std::size_t device, std::size_t stage) const { return levels_[device][stage]; }
  /// Returns the number of stages of device `other` that have started when stage `stage` of
  /// `device` starts.
  std::size_t started(std::size_t device, std::size_t stage, std::size_t other) const {
    return clocks_[device][stage][other];
  }

 private:
  // Orders the next stage of a device, if all stages that it waits for are ordered. Returns true if
  // it did.
  bool order_next(std::size_t d) {
    const std::size_t s = clocks_[d].size();
    if (s == schedule_.devices[d].size()) return false;
    std::vector<std::size_t> clock(schedule_.devices.size(), 0);
    std::size_t level = 0;
    if (s > 0) {
      clock = clocks_[d][s - 1];
      level = levels_[d][s - 1] + 1;
    }
    for (const Group& group : schedule_.devices[d][s].groups) {
      for (const OpId op : group) {
        for (const EdgeId edge : graph_.in_edges(op)) {
          const AssignedTo& from = of(graph_.edge(edge).from);
          const std::size_t other = from.device.index();
          if (other == d) continue;
          if (from.stage >= clocks_[other].size()) return false;
          const auto& known = clocks_[other][from.stage];
          for (std::size_t e = 0; e < clock.size(); ++e) clock[e] = std::max(clock[e], known[e]);
          level = std::max(level, levels_[other][from.stage] + 1);
        }
      }
    }
    clock[d] = s + 1;
    clocks_[d].push_back(std::move(clock));
    levels_[d].push_back(level);
    return true;
  }

  const Graph& graph_;
  const Schedule& schedule_;
  Assignment assignment_;
  std::vector<std::vector<std::vector<std::size_t>>> clocks_;  // device, stage, other device
  std::vector<std::vector<std::size_t>> levels_;               // device, stage
};

}  // namespace hios
