#include "scheduler/algorithms/list/getf.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "hios/base/numbers/random.h"
#include "scheduler/deadline.h"
#include "scheduler/list/earliest_start.h"
#include "scheduler/list/placement.h"
#include "scheduler/list/priorities.h"
#include "scheduler/structures/numbers.h"

// The authors prove GETF's bound for any assignment of operators to groups: longest path, plus
// work, plus communication on a chain. The linear program only makes the first two small, so a rule
// instead of it affects only how small they are. With all operators in their fastest groups the
// longest path is minimal, so a move helps only if it reduces the work of the largest group. Each
// move is evaluated from scratch, O(V + E), at most one for each operator and group.
//
// Operators that share a label are in one group, as a label has one device.
//
// Tests: tests/scheduler/algorithms/baselines/baselines_test.cpp,
// tests/scheduler/list/earliest_start_test.cpp, tests/scheduler/oracle_test.cpp.

namespace hios::scheduler {
namespace {

/// Returns the speed of each device; 0 where it can run no operator.
std::vector<double> speeds(const Graph& graph, const CostModel& costs) {
  const std::size_t devices = costs.platform().size();
  std::vector<double> least_ms(devices, 0), own_ms(devices, 0);
  std::vector<bool> used(devices, false);
  for (std::size_t i = 0; i < graph.size(); ++i) {
    double least = kInfinity;
    for (std::size_t d = 0; d < devices; ++d) {
      least = std::min(least, costs.operator_ms(OpId(i), DeviceId(d)));
    }
    for (std::size_t d = 0; d < devices; ++d) {
      if (!costs.can_run(OpId(i), DeviceId(d))) continue;
      least_ms[d] += least;
      own_ms[d] += costs.operator_ms(OpId(i), DeviceId(d));
      used[d] = true;
    }
  }
  std::vector<double> speeds(devices, 0);
  for (std::size_t d = 0; d < devices; ++d) {
    if (used[d]) speeds[d] = own_ms[d] > 0 ? least_ms[d] / own_ms[d] : 1;
  }
  return speeds;
}

class Assignment {
 public:
  Assignment(const Graph& graph, const CostModel& costs,
             const std::vector<std::vector<DeviceId>>& groups)
      : graph_(graph),
        groups_(groups),
        labels_(graph, costs),
        time_ms_(graph.size() * groups.size(), kInfinity),
        group_of_(graph.size()),
        finish_ms_(graph.size()),
        work_ms_(groups.size(), 0) {
    for (std::size_t i = 0; i < graph.size(); ++i) {
      for (std::size_t g = 0; g < groups.size(); ++g) {
        time_ms_[i * groups.size() + g] = mean_ms(OpId(i), costs, groups[g]);
      }
    }
    for (std::size_t i = 0; i < graph.size(); ++i) assign_fastest(OpId(i));
    now_ms_ = length_ms();
  }

  /// A move to another group, and the ratio of the operator's times there and now.
  struct Move {
    double loss;
    OpId op;
    std::size_t group;
  };

  /// Returns all moves by increasing loss. Equal ones are shuffled, or all early operators would go
  /// to a slow group.
  std::vector<Move> moves() const {
    std::vector<Move> moves;
    for (std::size_t i = 0; i < graph_.size(); ++i) {
      const OpId op(i);
      if (!group_of_[i] || members(op).front() != op) continue;
      const double now = together_ms(op, *group_of_[i]);
      for (std::size_t g = 0; g < groups_.size(); ++g) {
        const double there = together_ms(op, g);
        if (g != *group_of_[i] && there < kInfinity) {
          moves.push_back({now > 0 ? there / now : kInfinity, op, g});
        }
      }
    }
    Random random(0, "getf");  // always the same order
    for (std::size_t i = moves.size(); i > 1; --i) {
      std::swap(moves[i - 1], moves[random.below(i)]);
    }
    std::stable_sort(moves.begin(), moves.end(),
                     [](const Move& a, const Move& b) { return a.loss < b.loss; });
    return moves;
  }

  /// Keeps the move if it reduces the greater of longest path and work.
  void try_move(const Move& move) {
    const std::size_t from = *group_of_[move.op.index()];
    if (from == move.group || work_ms_[from] < now_ms_) return;
    const std::vector<double> work_before = work_ms_;
    put(move.op, move.group);
    const double ms = length_ms();
    if (ms < now_ms_) {
      now_ms_ = ms;
      return;
    }
    put(move.op, from);
    work_ms_ = work_before;
  }

  std::vector<std::optional<std::size_t>> take() { return std::move(group_of_); }

 private:
  std::span<const OpId> members(const OpId& op) const {
    const auto unit = labels_.unit(op);
    return unit ? std::span<const OpId>(labels_.units()[*unit]) : std::span(&op, 1);
  }

  /// Returns the mean over the group's devices that can run it and all operators of its label.
  double mean_ms(OpId op, const CostModel& costs, const std::vector<DeviceId>& group) const {
    double sum = 0;
    std::size_t able = 0;
    for (const DeviceId device : group) {
      if (!labels_.able(op, device)) continue;
      sum += costs.operator_ms(op, device);
      ++able;
    }
    return able == 0 ? kInfinity : sum / static_cast<double>(able);
  }

  double together_ms(OpId op, std::size_t group) const {
    double sum = 0;
    for (const OpId member : members(op)) sum += time_ms(member, group);
    return sum;
  }
  double time_ms(OpId op, std::size_t group) const {
    return time_ms_[op.index() * groups_.size() + group];
  }

  /// Assigns the group where the operator and its label are fastest, the fastest group among
  /// equals.
  void assign_fastest(OpId op) {
    double least = kInfinity;
    std::optional<std::size_t> best;
    for (std::size_t g = groups_.size(); g-- > 0;) {
      const double ms = together_ms(op, g);
      if (ms >= least) continue;
      least = ms;
      best = g;
    }
    group_of_[op.index()] = best;
  }

  void put(OpId op, std::size_t group) {
    for (const OpId member : members(op)) group_of_[member.index()] = group;
  }

  /// Returns the greater of the longest path and the largest work of a group per device.
  double length_ms() {
    std::fill(work_ms_.begin(), work_ms_.end(), 0);
    double longest = 0;
    for (const OpId op : graph_.topological()) {
      const auto& group = group_of_[op.index()];
      double finish = group ? time_ms(op, *group) : 0;
      if (group) work_ms_[*group] += finish;
      double ready = 0;
      for (const EdgeId e : graph_.in_edges(op)) {
        ready = std::max(ready, finish_ms_[graph_.edge(e).from.index()]);
      }
      finish_ms_[op.index()] = finish += ready;
      longest = std::max(longest, finish);
    }
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      work_ms_[g] /= static_cast<double>(groups_[g].size());
      longest = std::max(longest, work_ms_[g]);
    }
    return longest;
  }

  const Graph& graph_;
  const std::vector<std::vector<DeviceId>>& groups_;
  Placement labels_;             // nothing is placed
  std::vector<double> time_ms_;  // operator × group
  std::vector<std::optional<std::size_t>> group_of_;
  std::vector<double> finish_ms_;  // scratch of length_ms()
  std::vector<double> work_ms_;    // by group, per device
  double now_ms_ = 0;
};

}  // namespace

std::vector<std::vector<DeviceId>> speed_groups(const Graph& graph, const CostModel& costs) {
  const std::vector<double> speed = speeds(graph, costs);
  const auto devices = static_cast<double>(speed.size());
  double base = 2;
  if (speed.size() > 2) base = std::max(base, std::log(devices) / std::log(std::log(devices)));
  const double fastest = *std::max_element(speed.begin(), speed.end());
  std::vector<std::vector<DeviceId>> groups;
  for (double low = fastest / devices; low <= fastest && fastest > 0; low *= base) {
    std::vector<DeviceId> group;
    for (std::size_t d = 0; d < speed.size(); ++d) {
      if (low <= speed[d] && speed[d] < low * base) group.emplace_back(d);
    }
    if (!group.empty()) groups.push_back(std::move(group));
  }
  return groups;
}

std::vector<std::optional<std::size_t>> group_assignment(
    const Graph& graph, const CostModel& costs, const std::vector<std::vector<DeviceId>>& groups,
    const Deadline& deadline) {
  Assignment assignment(graph, costs, groups);
  std::size_t count = 0;
  for (const Assignment::Move& move : assignment.moves()) {
    if (deadline.expired_at(count++, kOperatorsPerCheck)) break;
    assignment.try_move(move);
  }
  return assignment.take();
}

TimedSchedule schedule_getf(const Graph& graph, const CostModel& costs, const Deadline& deadline) {
  const auto groups = speed_groups(graph, costs);
  const auto group_of = group_assignment(graph, costs, groups, deadline);
  std::vector<std::optional<std::size_t>> group_of_device(costs.platform().size());
  for (std::size_t g = 0; g < groups.size(); ++g) {
    for (const DeviceId device : groups[g]) group_of_device[device.index()] = g;
  }
  const std::vector<OpId> order = priority_order(graph, costs);
  EarliestStart placed(graph, costs, order, [&](OpId op, DeviceId device) {
    const auto& group = group_of[op.index()];
    return !group || group_of_device[device.index()] == group;
  });
  for (std::size_t count = 0; !placed.is_done(); ++count) {
    if (deadline.expired_at(count, kOperatorsPerCheck)) {
      return {list_schedule(graph, costs, order, placed.devices()), true};
    }
    const auto choice = placed.next();
    if (!choice) {
      const auto packed = pack_operators(graph, costs, "getf", deadline);
      return {list_schedule(graph, costs, order, packed), false};
    }
    placed.place(*choice);
  }
  return {placed.schedule(), false};
}

}  // namespace hios::scheduler
