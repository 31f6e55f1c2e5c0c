#include "scheduler/list/placement.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>

#include "hios/base/error.h"
#include "hios/base/numbers/random.h"
#include "scheduler/list/exact_packing.h"
#include "scheduler/structures/saturating_sum.h"

// room_ is the part of a device's memory that neither placed operators nor the rest of their units
// take. A device without a limit has room for all.
// Tests: tests/scheduler/list/placement_test.cpp, and tests/scheduler/constraints_test.cpp with all
// algorithms.

namespace hios::scheduler {

Bytes held_bytes(const Operator& op) { return saturating_sum(op.memory_bytes, op.parameter_bytes); }

Placement::Placement(const Graph& graph, const CostModel& costs) : graph_(&graph), costs_(&costs) {
  const auto devices = costs.platform().devices();
  form_units();
  const bool limits = std::any_of(devices.begin(), devices.end(),
                                  [](const Device& device) { return device.memory_bytes > 0; });
  if (!limits) return;
  for (const Device& device : devices) {
    room_.push_back(device.memory_bytes > 0 ? device.memory_bytes : kNoLimit);
  }
}

void Placement::form_units() {
  std::map<std::string_view, std::vector<OpId>> labelled;
  for (std::size_t i = 0; i < graph_->size(); ++i) {
    const std::string& label = graph_->op(OpId(i)).colocate;
    if (!label.empty()) labelled[label].push_back(OpId(i));
  }
  for (auto& [label, members] : labelled) {
    if (members.size() < 2) continue;
    unit_of_.resize(graph_->size(), kAlone);
    Bytes sum = 0;
    for (OpId op : members) {
      unit_of_[op.index()] = static_cast<std::uint32_t>(units_.size());
      sum = saturating_sum(sum, held_bytes(graph_->op(op)));
    }
    for (std::size_t d = 0; d < costs_->platform().size(); ++d) {
      unit_able_.push_back(std::all_of(members.begin(), members.end(),
                                       [&](OpId op) { return costs_->can_run(op, DeviceId(d)); }));
    }
    unit_bytes_.push_back(sum);
    unit_goes_.emplace_back();
    units_.push_back(std::move(members));
  }
}

std::optional<std::size_t> Placement::unit(OpId op) const {
  if (unit_of_.empty() || unit_of_[op.index()] == kAlone) return std::nullopt;
  return unit_of_[op.index()];
}

Bytes Placement::bytes(OpId op) const {
  const auto own = unit(op);
  return own ? unit_bytes_[*own] : held_bytes(graph_->op(op));
}

bool Placement::able(OpId op, DeviceId device) const {
  const auto own = unit(op);
  if (!own) return costs_->can_run(op, device);
  return unit_able_[*own * costs_->platform().size() + device.index()];
}

bool Placement::is_reserved(OpId op) const {
  const auto own = unit(op);
  return own && unit_goes_[*own];
}

bool Placement::may_go(OpId op, DeviceId device) const {
  const auto own = unit(op);
  if (own && unit_goes_[*own]) return *unit_goes_[*own] == device;
  return able(op, device) && (!limited() || bytes(op) <= room(device));
}

std::size_t Placement::fitting(std::span<const OpId> operators, DeviceId device) const {
  std::vector<std::size_t> met;  // units of the previous operators
  Bytes taken = 0;
  for (std::size_t i = 0; i < operators.size(); ++i) {
    const OpId op = operators[i];
    if (!may_go(op, device)) return i;
    const auto own = unit(op);
    if (own && unit_goes_[*own]) continue;
    if (own && std::find(met.begin(), met.end(), *own) != met.end()) continue;
    if (own) met.push_back(*own);
    if (!limited()) continue;
    taken = saturating_sum(taken, bytes(op));
    if (taken > room(device)) return i;
  }
  return operators.size();
}

void Placement::place(OpId op, DeviceId device) {
  const auto own = unit(op);
  if (own && unit_goes_[*own]) return;
  if (limited() && room_[device.index()] != kNoLimit) room_[device.index()] -= bytes(op);
  if (own) unit_goes_[*own] = device;
}

namespace {

constexpr int kAttempts = 400;              // O(operators · devices) each
constexpr std::int64_t kSteps = 1'000'000;  // steps of the exact search after them

class Packing {
 public:
  enum class Rule { kLeastWork, kLeastRoom, kMostRoom };

  Packing(const Graph& graph, const CostModel& costs)
      : graph_(graph), costs_(costs), empty_(graph, costs) {
    for (std::size_t i = 0; i < graph.size(); ++i) {
      const auto unit = empty_.unit(OpId(i));
      if (!unit || empty_.units()[*unit].front() == OpId(i)) leaders_.push_back(OpId(i));
    }
    std::vector<std::size_t> choices(graph.size());
    for (OpId op : leaders_) {
      for (std::size_t d = 0; d < costs.platform().size(); ++d) {
        choices[op.index()] += empty_.may_go(op, DeviceId(d));
      }
    }
    std::stable_sort(leaders_.begin(), leaders_.end(), [&](OpId a, OpId b) {
      return std::tuple(choices[a.index()], empty_.bytes(b)) <
             std::tuple(choices[b.index()], empty_.bytes(a));
    });
  }

  /// Returns devices by operator, or nothing; then left_over() is the operator that did not fit.
  std::optional<std::vector<std::optional<DeviceId>>> pack(Rule rule) {
    Placement placement = empty_;
    std::vector<double> work_ms(costs_.platform().size(), 0);
    std::vector<std::optional<DeviceId>> device_of(graph_.size());
    for (OpId op : leaders_) {
      std::optional<DeviceId> best;
      for (std::size_t d = 0; d < work_ms.size(); ++d) {
        const DeviceId device(d);
        if (!placement.may_go(op, device)) continue;
        const auto work_with = [&](DeviceId to) { return work_ms[to.index()] + time_ms(op, to); };
        const auto is_better = [&](DeviceId known) {
          if (rule == Rule::kLeastWork) return work_with(device) < work_with(known);
          if (rule == Rule::kLeastRoom) return placement.room(device) < placement.room(known);
          return placement.room(device) > placement.room(known);
        };
        if (!best || is_better(*best)) best = device;
      }
      if (!best) {
        left_over_ = op;
        return std::nullopt;
      }
      placement.place(op, *best);
      work_ms[best->index()] += time_ms(op, *best);
      for (OpId member : members(op)) device_of[member.index()] = *best;
    }
    return device_of;
  }

  /// Searches exhaustively, for at most kSteps steps.
  PackingOutcome pack_exactly(std::vector<std::optional<DeviceId>>& device_of) const {
    std::vector<Bytes> items, room;
    for (OpId op : leaders_) items.push_back(empty_.bytes(op));
    for (std::size_t d = 0; d < costs_.platform().size(); ++d) {
      room.push_back(empty_.room(DeviceId(d)));
    }
    const auto able = [&](std::size_t i, std::size_t d) {
      return empty_.able(leaders_[i], DeviceId(d));
    };
    const ExactPacking packing = scheduler::pack_exactly(items, room, able, kSteps);
    device_of.resize(graph_.size());
    for (std::size_t i = 0; i < packing.device.size(); ++i) {
      for (OpId member : members(leaders_[i])) {
        device_of[member.index()] = DeviceId(packing.device[i]);
      }
    }
    return packing.outcome;
  }

  /// Shuffles the order of operators for another attempt.
  void shuffle(Random& random) {
    for (std::size_t i = leaders_.size(); i > 1; --i) {
      std::swap(leaders_[i - 1], leaders_[random.below(i)]);
    }
  }

  bool limited() const { return empty_.limited(); }
  bool labelled() const { return !empty_.units().empty(); }
  OpId left_over() const { return left_over_; }

 private:
  std::span<const OpId> members(const OpId& leader) const {
    const auto unit = empty_.unit(leader);
    return unit ? std::span<const OpId>(empty_.units()[*unit]) : std::span(&leader, 1);
  }
  double time_ms(const OpId& leader, DeviceId device) const {
    double sum = 0;
    for (OpId op : members(leader)) sum += costs_.operator_ms(op, device);
    return sum;
  }

  const Graph& graph_;
  const CostModel& costs_;
  Placement empty_;
  std::vector<OpId> leaders_;  // first operator of each unit, and all others
  OpId left_over_;
};

}  // namespace

std::vector<std::optional<DeviceId>> pack_operators(const Graph& graph, const CostModel& costs,
                                                    std::string_view algorithm,
                                                    const Deadline& deadline) {
  using Rule = Packing::Rule;
  constexpr Rule kRules[] = {Rule::kLeastWork, Rule::kLeastRoom, Rule::kMostRoom};
  Packing packing(graph, costs);
  std::optional<OpId> left_over;  // from the first attempt, whose order is not random
  Random random(0, "packing");    // a fixed seed, so the same placement every time
  for (int attempt = 0; attempt < (packing.limited() ? kAttempts : 1); ++attempt) {
    auto packed = packing.pack(kRules[attempt % 3]);
    if (packed) return std::move(*packed);
    if (!left_over) left_over = packing.left_over();
    if (attempt >= 2 && deadline.expired()) break;
    if (attempt >= 2) packing.shuffle(random);
  }
  std::vector<std::optional<DeviceId>> device_of;
  PackingOutcome outcome = PackingOutcome::kNone;  // without limits, no choice restricts another
  if (packing.limited() && deadline.expired()) outcome = PackingOutcome::kUndecided;
  if (packing.limited() && !deadline.expired()) outcome = packing.pack_exactly(device_of);
  if (outcome == PackingOutcome::kFound) return device_of;
  throw InputError(
      std::string(algorithm) + ": " +
      (outcome == PackingOutcome::kNone ? "there is no placement" : "no placement was found") +
      " that fits " + (packing.labelled() ? "labels and memory" : "memory") + ": operator " +
      graph.op(*left_over).name + " is left over; give a device more memory_bytes" +
      (packing.labelled() ? ", or take fewer labels" : ""));
}

bool may_hold(const Graph& graph, const Platform& platform, std::span<const DeviceId> devices) {
  Bytes room = 0, needed = 0;
  for (const DeviceId device : devices) {
    const Bytes limit = platform.device(device).memory_bytes;
    if (limit == 0) return true;
    room = saturating_sum(room, limit);
  }
  for (const Operator& op : graph.operators()) needed = saturating_sum(needed, held_bytes(op));
  return needed <= room;
}

}  // namespace hios::scheduler
