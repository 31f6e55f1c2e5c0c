#include "scheduler/cold/search/plan_moves.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "scheduler/cold/search/stage_order.h"

// Segments of stages move to a device together as often as single ones: a device that gets one
// operator alone must load for it and wait for its inputs, and gains nothing. Their lengths are
// powers of two, so that short and long ones are equally likely.

namespace hios::scheduler::cold {
namespace {

constexpr std::int32_t kLongestShift = 64;  ///< stages by which a load moves at once

class Mover {
 public:
  Mover(const PlanProblem& problem, ColdPlan& plan, Random& random)
      : problem_(problem), plan_(plan), random_(random) {}

  bool move() {
    if (plan_.stages.empty()) return false;
    const bool loads = !problem_.sets().sets().empty();
    const bool devices = problem_.devices() > 1;
    switch (random_.below(16)) {
      case 0:
        return devices && move_to_device(random_position(), 1, random_device());
      case 1:
        return devices && follow_neighbour();
      case 2:
        return devices && move_to_device_and_position();
      case 3:
      case 4:
      case 5:
        return devices && move_to_device(random_position(), segment_length(), random_device());
      case 6:
      case 7:
        return move_within_window(random_position());
      case 8:
      case 9:
        return loads && shift_load();
      case 10:
      case 11:
        return loads && devices && change_relays(random_.below(2) == 0 ? 1 : segment_length());
      case 12:
      case 13:
        return read_in_place(1);
      case 14:
        return read_in_place(segment_length());
      default:
        return random_.below(4) == 0 ? change_lanes() : take_apart();
    }
  }

 private:
  std::size_t random_position() { return random_.below(plan_.stages.size()); }

  std::size_t segment_length() {
    std::size_t longest = 1;
    while ((std::size_t{1} << longest) < plan_.stages.size()) ++longest;
    return std::size_t{1} << (1 + random_.below(longest));
  }

  DeviceId random_device() { return DeviceId(random_.below(problem_.devices())); }

  std::vector<std::size_t> positions() const {
    std::vector<std::size_t> position(problem_.graph().size(), 0);
    for (std::size_t at = 0; at < plan_.stages.size(); ++at) {
      for (const Group& group : plan_.stages[at].stage.groups) {
        for (const OpId op : group) position[op.index()] = at;
      }
    }
    return position;
  }

  /// Returns true if the device can run all operators of a stage, and on as many streams.
  bool can_go(const PlacedStage& placed, DeviceId device) const {
    if (placed.stage.groups.size() > 1 && placed.device != device) return false;
    return std::ranges::all_of(placed.stage.groups, [&](const Group& group) {
      return std::ranges::all_of(group,
                                 [&](OpId op) { return problem_.costs().can_run(op, device); });
    });
  }

  /// Moves a segment of stages, with those that must share a device with its operators.
  bool move_to_device(std::size_t begin, std::size_t length, DeviceId to) {
    const std::size_t end = std::min(plan_.stages.size(), begin + length);
    const DeviceId from = plan_.stages[begin].device;
    if (to == from) return false;
    std::vector<std::size_t> position;
    bool moved = false;
    for (std::size_t at = begin; at < end; ++at) {
      PlacedStage& placed = plan_.stages[at];
      if (placed.device != from || !can_go(placed, to)) continue;
      std::vector<std::size_t> together = {at};
      gather_unit(together, position);
      const bool all = std::ranges::all_of(
          together, [&](std::size_t each) { return can_go(plan_.stages[each], to); });
      if (!all) continue;
      for (const std::size_t each : together) plan_.stages[each].device = to;
      moved = true;
    }
    return moved;
  }

  /// Adds the stages that must be where those listed are. `position` is computed once needed.
  void gather_unit(std::vector<std::size_t>& together, std::vector<std::size_t>& position) const {
    for (std::size_t i = 0; i < together.size(); ++i) {
      for (const Group& group : plan_.stages[together[i]].stage.groups) {
        for (const OpId op : group) {
          if (problem_.unit(op).size() == 1) continue;
          if (position.empty()) position = positions();
          for (const OpId other : problem_.unit(op)) {
            const std::size_t at = position[other.index()];
            if (std::ranges::find(together, at) == together.end()) together.push_back(at);
          }
        }
      }
    }
  }

  /// Moves a stage to the device of one that it waits for, or that waits for it.
  bool follow_neighbour() {
    const std::size_t at = random_position();
    const Graph& graph = problem_.graph();
    const OpId op = plan_.stages[at].stage.groups.front().front();
    const auto before = graph.in_edges(op), after = graph.out_edges(op);
    if (before.empty() && after.empty()) return false;
    const std::size_t edge = random_.below(before.size() + after.size());
    const OpId neighbour = edge < before.size() ? graph.edge(before[edge]).from
                                                : graph.edge(after[edge - before.size()]).to;
    return move_to_device(at, 1, plan_.stages[positions()[neighbour.index()]].device);
  }

  bool move_to_device_and_position() {
    const std::size_t at = random_position();
    if (!move_to_device(at, 1, random_device())) return false;
    move_within_window(at);
    return true;
  }

  bool move_within_window(std::size_t at) {
    const Window window = window_of(problem_.graph(), plan_.stages, positions(), at);
    if (window.first == window.last) return false;
    const std::size_t to = window.first + random_.below(window.last - window.first + 1);
    const auto begin = plan_.stages.begin();
    const auto old_at = begin + static_cast<std::ptrdiff_t>(at);
    const auto new_at = begin + static_cast<std::ptrdiff_t>(to);
    if (to < at) std::rotate(new_at, old_at, old_at + 1);
    if (to > at) std::rotate(old_at, old_at + 1, new_at + 1);
    return to != at;
  }

  /// Returns an operator with parameters, and its device, near a random stage.
  std::optional<std::pair<OpId, DeviceId>> random_reader() {
    const PlacedStage& placed = plan_.stages[random_position()];
    const Group& group = placed.stage.groups[random_.below(placed.stage.groups.size())];
    const OpId op = group[random_.below(group.size())];
    if (!problem_.sets().of(op)) return std::nullopt;
    return std::pair(op, placed.device);
  }

  std::size_t slot(DeviceId device, OpId op) const {
    return device.index() * problem_.sets().sets().size() + *problem_.sets().of(op);
  }

  bool shift_load() {
    const auto reader = random_reader();
    if (!reader) return false;
    std::int32_t& shift = plan_.shift[slot(reader->second, reader->first)];
    if (shift != 0 && random_.below(4) == 0) {
      shift = 0;
      return true;
    }
    const auto by = static_cast<std::int32_t>(1 + random_.below(kLongestShift));
    shift += random_.below(2) == 0 ? by : -by;
    return true;
  }

  /// Lets a device pass on the parameters of a segment, or none do; every other one, perhaps.
  bool change_relays(std::size_t length) {
    const std::size_t begin = random_position();
    const std::size_t end = std::min(plan_.stages.size(), begin + length);
    const DeviceId to = plan_.stages[begin].device;
    const auto& able = problem_.relays(to);
    if (able.empty()) return false;
    std::optional<DeviceId> relay;
    if (random_.below(3) > 0) relay = able[random_.below(able.size())];
    const std::size_t step = 1 + random_.below(3);
    bool changed = false;
    for (std::size_t at = begin; at < end; at += step) {
      if (plan_.stages[at].device != to) continue;
      for (const Group& group : plan_.stages[at].stage.groups) {
        for (const OpId op : group) {
          if (!problem_.sets().of(op)) continue;
          auto& own = plan_.relay[slot(to, op)];
          changed = changed || own != relay;
          own = relay;
        }
      }
    }
    return changed;
  }

  /// Lets the operators of a segment read in place, or load, as its first one does not.
  bool read_in_place(std::size_t length) {
    const std::size_t begin = random_position();
    const std::size_t end = std::min(plan_.stages.size(), begin + length);
    std::optional<bool> wanted;
    for (std::size_t at = begin; at < end; ++at) {
      const auto& [device, stage] = plan_.stages[at];
      if (stage.groups.size() > 1 || stage.groups.front().size() > 1) continue;
      const OpId op = stage.groups.front().front();
      if (!problem_.can_read_in_place(op, device)) continue;
      if (!wanted) wanted = !plan_.in_place[op.index()];
      plan_.in_place[op.index()] = *wanted;
    }
    return wanted.has_value();
  }

  bool change_lanes() {
    if (random_.below(2) == 0) {
      plan_.shared_lanes = !plan_.shared_lanes;
    } else {
      plan_.lanes_of_route = plan_.lanes_of_route == 1 ? 2 : 1;
    }
    return true;
  }

  /// Gives each operator of a stage its own, in topological order.
  bool take_apart() {
    const std::size_t at = random_position();
    const PlacedStage whole = plan_.stages[at];
    std::vector<OpId> operators;
    for (const OpId op : problem_.graph().topological()) {
      for (const Group& group : whole.stage.groups) {
        if (std::ranges::find(group, op) != group.end()) operators.push_back(op);
      }
    }
    if (operators.size() == 1) return false;
    std::vector<PlacedStage> parts;
    for (Stage& stage : one_operator_stages(operators)) {
      parts.push_back({whole.device, std::move(stage)});
    }
    const auto where = plan_.stages.begin() + static_cast<std::ptrdiff_t>(at);
    plan_.stages.insert(plan_.stages.erase(where), parts.begin(), parts.end());
    return true;
  }

  const PlanProblem& problem_;
  ColdPlan& plan_;
  Random& random_;
};

}  // namespace

bool make_move(const PlanProblem& problem, ColdPlan& plan, Random& random) {
  return Mover(problem, plan, random).move();
}

}  // namespace hios::scheduler::cold
