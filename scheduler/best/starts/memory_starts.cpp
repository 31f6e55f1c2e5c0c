#include "scheduler/best/starts/memory_starts.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "hios/base/error.h"
#include "hios/evaluate/simulate.h"
#include "scheduler/list/placement.h"
#include "scheduler/list/priorities.h"
#include "scheduler/list/timeline.h"
#include "scheduler/structures/depth_first.h"
#include "scheduler/structures/saturating_sum.h"

// A device takes operators in order until the next one does not fit or the device's share is
// reached; then comes the next device, and never an earlier one. So there are few cuts between
// devices. (A device that no later operator may use ends its turn, too.) Shares are those of the
// remaining work, by the speeds of the remaining devices.
//
// Operators left at the end go to any device with room. Where none has room, the operator replaces
// a smaller one, which then needs another device. So the bytes to be placed shrink at each step,
// and only the smallest possible remain.
//
// Where some devices are much slower than others, a filling is also used in part: it decides what
// those devices hold, and list scheduling divides the rest.
//
// Cost: O(V + E) for a filling in which all operators find room; each replacement is O(V).
// Tests: tests/scheduler/best/memory_test.cpp.

namespace hios::scheduler::best {
namespace {

class Filling {
 public:
  Filling(const Graph& graph, const CostModel& costs)
      : graph_(graph), costs_(costs), empty_(graph, costs) {
    for (std::size_t d = 0; d < costs.platform().size(); ++d) {
      double sum = 0;
      bool runs_some = false;
      for (std::size_t i = 0; i < graph.size(); ++i) {
        sum += time_ms(OpId(i), d);
        runs_some = runs_some || empty_.able(OpId(i), DeviceId(d));
      }
      work_ms_.push_back(sum);
      if (runs_some) usable_.push_back(d);
    }
  }

  bool limited() const {
    Bytes all = 0;
    for (const Operator& op : graph_.operators()) all = saturating_sum(all, held_bytes(op));
    return empty_.limited() && std::any_of(usable_.begin(), usable_.end(), [&](std::size_t d) {
             return empty_.room(DeviceId(d)) < all;
           });
  }

  /// Returns usable devices, the fastest first and then by room; or the largest first and then by
  /// speed.
  std::vector<std::size_t> devices(bool fastest) const {
    std::vector<std::size_t> order = usable_;
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      const Bytes room_a = empty_.room(DeviceId(a)), room_b = empty_.room(DeviceId(b));
      if (fastest) return std::pair(work_ms_[a], room_b) < std::pair(work_ms_[b], room_a);
      return std::pair(room_b, work_ms_[a]) < std::pair(room_a, work_ms_[b]);
    });
    return order;
  }

  /// Returns operators by the time that the fastest device saves against the mean, for a byte.
  std::vector<OpId> by_gain() const {
    const std::size_t fastest = devices(true).front();
    std::vector<double> gain;
    for (std::size_t i = 0; i < graph_.size(); ++i) {
      const double saved = costs_.mean_operator_ms(OpId(i)) - time_ms(OpId(i), fastest);
      gain.push_back(saved / (1 + static_cast<double>(empty_.bytes(OpId(i)))));
    }
    std::vector<OpId> order(graph_.topological().begin(), graph_.topological().end());
    std::stable_sort(order.begin(), order.end(),
                     [&](OpId a, OpId b) { return gain[a.index()] > gain[b.index()]; });
    return order;
  }

  /// Returns devices by operator; nothing if some fit nowhere.
  std::optional<std::vector<std::optional<DeviceId>>> fill(const std::vector<OpId>& order,
                                                           const std::vector<std::size_t>& devices,
                                                           bool by_share) {
    room_.clear();
    for (std::size_t d = 0; d < work_ms_.size(); ++d) room_.push_back(empty_.room(DeviceId(d)));
    device_of_.assign(graph_.size(), std::nullopt);
    double left_ms = 0;
    for (OpId op : order) left_ms += costs_.mean_operator_ms(op);
    const std::vector<std::size_t> last = last_able(order);
    std::size_t turn = 0;
    double quota_ms = share(devices, turn) * left_ms, taken_ms = 0;
    const auto next_turn = [&] {
      ++turn;
      quota_ms = share(devices, turn) * left_ms;
      taken_ms = 0;
    };
    for (std::size_t i = 0; i < order.size(); ++i) {
      const OpId op = order[i];
      const double ms = costs_.mean_operator_ms(op);
      while (turn < devices.size() && last[devices[turn]] < i) next_turn();
      if (!device_of_[op.index()] && turn < devices.size() && able(op, devices[turn])) {
        const bool enough = by_share && taken_ms + ms / 2 > quota_ms;
        if (enough || empty_.bytes(op) > room_[devices[turn]]) next_turn();
        if (turn < devices.size() && fits(op, devices[turn])) put(op, devices[turn]);
      }
      if (device_of_[op.index()]) taken_ms += ms;
      left_ms -= ms;
    }
    for (OpId op : order) {
      if (!device_of_[op.index()] && !find_device(op)) return std::nullopt;
    }
    return device_of_;
  }

  /// Returns the mapping without the operators on devices about as fast as the fastest; empty if
  /// all devices are.
  std::vector<std::optional<DeviceId>> on_slow_devices(
      std::vector<std::optional<DeviceId>> device_of) const {
    const double least = work_ms_[devices(true).front()];
    const auto slow = [&](std::size_t d) { return work_ms_[d] > kSlow * least; };
    if (std::none_of(usable_.begin(), usable_.end(), slow)) return {};
    for (auto& device : device_of) {
      if (device && !slow(device->index())) device.reset();
    }
    return device_of;
  }

 private:
  /// Returns, by device, the last position in the order of an operator that it can run; 0 if none.
  std::vector<std::size_t> last_able(const std::vector<OpId>& order) const {
    std::vector<std::size_t> last(work_ms_.size(), 0);
    for (std::size_t d : usable_) {
      for (std::size_t i = order.size(); i-- > 0 && last[d] == 0;) {
        if (able(order[i], d)) last[d] = i;
      }
    }
    return last;
  }

  bool able(OpId op, std::size_t d) const { return empty_.able(op, DeviceId(d)); }
  bool fits(OpId op, std::size_t d) const { return able(op, d) && empty_.bytes(op) <= room_[d]; }
  double time_ms(OpId op, std::size_t d) const {
    const DeviceId device(d);
    return costs_.can_run(op, device) ? costs_.operator_ms(op, device)
                                      : costs_.mean_operator_ms(op);
  }

  /// Returns the device's share of the speed of all devices from its turn on.
  double share(const std::vector<std::size_t>& devices, std::size_t turn) const {
    double all = 0;
    for (std::size_t i = turn; i < devices.size(); ++i) all += 1 / (work_ms_[devices[i]] + kTiny);
    return turn + 1 < devices.size() ? 1 / (work_ms_[devices[turn]] + kTiny) / all
                                     : std::numeric_limits<double>::infinity();
  }

  std::span<const OpId> members(const OpId& op) const {
    const auto unit = empty_.unit(op);
    return unit ? std::span<const OpId>(empty_.units()[*unit]) : std::span<const OpId>(&op, 1);
  }

  void put(OpId op, std::size_t d) {
    if (room_[d] != Placement::kNoLimit) room_[d] -= empty_.bytes(op);
    for (OpId member : members(op)) device_of_[member.index()] = DeviceId(d);
  }

  void take(OpId op) {
    const std::size_t d = device_of_[op.index()]->index();
    if (room_[d] != Placement::kNoLimit) room_[d] += empty_.bytes(op);
    for (OpId member : members(op)) device_of_[member.index()].reset();
  }

  /// Assigns the operator to the device with the least room that suffices, or replaces smaller
  /// operators.
  bool find_device(OpId op) {
    for (int step = 0; step < kMaxSteps; ++step) {
      std::optional<std::size_t> best;
      for (std::size_t d = 0; d < room_.size(); ++d) {
        if (fits(op, d) && (!best || room_[d] < room_[*best])) best = d;
      }
      if (best) {
        put(op, *best);
        return true;
      }
      const std::optional<OpId> smaller = pick_smaller(op);
      if (!smaller) return false;
      const std::size_t d = device_of_[smaller->index()]->index();
      take(*smaller);
      put(op, d);
      op = *smaller;
    }
    return false;
  }

  /// Returns the smallest operator whose removal makes room for `op` on its device.
  std::optional<OpId> pick_smaller(OpId op) const {
    const Bytes bytes = empty_.bytes(op);
    std::optional<OpId> best;
    for (std::size_t i = 0; i < graph_.size(); ++i) {
      const OpId other(i);
      if (!device_of_[i] || empty_.bytes(other) >= bytes) continue;
      const std::size_t d = device_of_[i]->index();
      if (!able(op, d) || saturating_sum(room_[d], empty_.bytes(other)) < bytes) continue;
      if (!best || empty_.bytes(other) < empty_.bytes(*best)) best = other;
    }
    return best;
  }

  static constexpr double kTiny = 1e-9;
  static constexpr int kMaxSteps = 100;  ///< replacements for one operator
  static constexpr double kSlow = 2;     ///< ratio to the work of the fastest device

  const Graph& graph_;
  const CostModel& costs_;
  Placement empty_;
  std::vector<double> work_ms_;      // by device: of all operators
  std::vector<std::size_t> usable_;  // devices that can run some operator
  // State of the present filling.
  std::vector<Bytes> room_;                         // by device
  std::vector<std::optional<DeviceId>> device_of_;  // by operator
};

}  // namespace

Schedule fill_in_order(const Graph& graph, const CostModel& costs, const Deadline& deadline) {
  Filling filling(graph, costs);
  if (!filling.limited()) throw InputError("memory does not bind");
  const std::vector<OpId> priority = priority_order(graph, costs);
  const std::vector<std::vector<OpId>> orders{
      depth_first_order(graph), priority,
      std::vector<OpId>(graph.topological().begin(), graph.topological().end()), filling.by_gain()};
  Schedule shortest;
  double least_ms = std::numeric_limits<double>::infinity();
  const auto offer = [&](const std::vector<std::optional<DeviceId>>& device_of) {
    Schedule schedule = list_schedule(graph, costs, priority, device_of);
    const double ms = simulate(graph, schedule, costs).latency_ms;
    if (ms >= least_ms) return;
    least_ms = ms;
    shortest = std::move(schedule);
  };
  const auto attempt = [&](const std::vector<OpId>& order, bool fastest, bool by_share) {
    const bool late = deadline.expired();
    if (late && !shortest.devices.empty()) return;
    const auto device_of = filling.fill(order, filling.devices(fastest), by_share);
    if (!device_of) return;
    offer(*device_of);
    const auto slow_ones = filling.on_slow_devices(*device_of);
    if (!slow_ones.empty()) offer(slow_ones);
  };
  for (bool by_share : {false, true}) {
    for (bool fastest : {true, false}) {
      for (const std::vector<OpId>& order : orders) attempt(order, fastest, by_share);
    }
  }
  if (shortest.devices.empty()) throw InputError("devices filled in order do not hold all");
  return shortest;
}

}  // namespace hios::scheduler::best
