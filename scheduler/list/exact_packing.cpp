#include "scheduler/list/exact_packing.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "scheduler/structures/saturating_sum.h"

// Devices are filled one after the other (Martello and Toth's bin completion). Each is tried with
// every set of remaining items that is not dominated, larger items first:
//  - A set that leaves room for another remaining item is dominated: from any packing with it,
//    moving that item here gives another packing.
//  - The slack is the room of this device and all later ones minus the remaining items. No set may
//    leave more room than that on this device.
//  - Among identical items, if one is left out, the others are too.
//  - An item that no later device can take stays here. So does the first item that only devices
//    equal to this one can take: one of them must have it, and by symmetry it may be this one.
// Tests: tests/scheduler/list/exact_packing_test.cpp (compared with all assignments),
// tests/scheduler/list/packing_test.cpp.

namespace hios::scheduler {
namespace {

constexpr Bytes kMost = std::numeric_limits<Bytes>::max();
constexpr std::size_t kMostLevels = 1500;  // items and devices: maximum depth of the recursion

class BinCompletion {
 public:
  BinCompletion(const std::vector<Bytes>& items, const std::vector<Bytes>& room,
                const std::function<bool(std::size_t, std::size_t)>& able, std::int64_t steps)
      : items_(items), room_(room), steps_left_(steps), device_of_(items.size()) {
    for (std::size_t item = 0; item < items.size(); ++item) {
      able_.emplace_back();
      for (std::size_t d = 0; d < room.size(); ++d) able_.back().push_back(able(item, d));
    }
    number_kinds();
    order_devices();
    find_choices();
  }

  ExactPacking run() {
    if (some_item_fits_nowhere_) return {PackingOutcome::kNone, {}};
    if (fill_from(0)) return {PackingOutcome::kFound, found()};
    return {steps_left_ > 0 ? PackingOutcome::kNone : PackingOutcome::kUndecided, {}};
  }

 private:
  static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

  /// The items that a device may still take, largest first, and the room that may stay empty.
  struct Filling {
    std::size_t step;                ///< the device's position in the order
    std::vector<std::size_t> items;  // candidates
    std::vector<Bytes> rest;         // bytes of the candidates from this one on
    std::size_t forced = kNone;      ///< the first candidate that must be taken
    Bytes slack = 0;
  };

  bool may_go(std::size_t item, std::size_t device) const {
    return able_[item][device] && items_[item] <= room_[device];
  }

  /// Items are of one kind if they have the same size and may go to the same devices.
  void number_kinds() {
    std::map<std::pair<Bytes, std::vector<bool>>, std::size_t> kinds;
    for (std::size_t item = 0; item < items_.size(); ++item) {
      const auto known = kinds.emplace(std::pair(items_[item], able_[item]), kinds.size());
      kind_.push_back(known.first->second);
    }
    by_size_.resize(items_.size());
    std::iota(by_size_.begin(), by_size_.end(), std::size_t{0});
    std::stable_sort(by_size_.begin(), by_size_.end(), [&](std::size_t a, std::size_t b) {
      return std::pair(items_[b], kind_[a]) < std::pair(items_[a], kind_[b]);
    });
  }

  /// Sorts devices: those without a limit first, since they take every item that they may, then by
  /// increasing room; equal devices are adjacent.
  void order_devices() {
    std::vector<std::vector<bool>> takes(room_.size());
    for (std::size_t d = 0; d < room_.size(); ++d) {
      for (const auto& able : able_) takes[d].push_back(able[d]);
    }
    order_.resize(room_.size());
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    std::stable_sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) {
      // kMost, for no limit, wraps round to 0.
      return std::pair(room_[a] + 1, takes[a]) < std::pair(room_[b] + 1, takes[b]);
    });
    for (std::size_t i = 0; i < order_.size(); ++i) {
      const std::size_t a = order_[i > 0 ? i - 1 : 0], b = order_[i];
      const bool equal = i > 0 && room_[a] == room_[b] && takes[a] == takes[b];
      class_of_.push_back(i == 0 ? 0 : class_of_.back() + !equal);
    }
    room_from_.assign(order_.size() + 1, 0);
    for (std::size_t i = order_.size(); i-- > 0;) {
      room_from_[i] = saturating_sum(room_from_[i + 1], room_[order_[i]]);
    }
  }

  void find_choices() {
    for (std::size_t item = 0; item < items_.size(); ++item) {
      std::size_t first = kNone, last = kNone;
      for (std::size_t i = 0; i < order_.size(); ++i) {
        if (!may_go(item, order_[i])) continue;
        if (first == kNone) first = i;
        last = i;
      }
      some_item_fits_nowhere_ = some_item_fits_nowhere_ || last == kNone;
      if (last == kNone) continue;
      last_.push_back(last);
      only_class_.push_back(class_of_[first] == class_of_[last] ? class_of_[first] : kNone);
    }
  }

  bool fill_from(std::size_t step) {
    if (step == order_.size()) {
      return std::all_of(device_of_.begin(), device_of_.end(),
                         [](const auto& d) { return d.has_value(); });
    }
    Filling filling{step, {}, {}, kNone, 0};
    Bytes left = 0;
    for (std::size_t item : by_size_) {
      if (device_of_[item]) continue;
      left = saturating_sum(left, items_[item]);
      if (!may_go(item, order_[step])) continue;
      const bool here = last_[item] == step || only_class_[item] == class_of_[step];
      if (filling.forced == kNone && here) filling.forced = filling.items.size();
      filling.items.push_back(item);
    }
    steps_left_ -= static_cast<std::int64_t>(items_.size());
    if (left > room_from_[step]) return false;
    filling.slack = room_from_[step] == kMost ? kMost : room_from_[step] - left;
    filling.rest.assign(filling.items.size() + 1, 0);
    for (std::size_t i = filling.items.size(); i-- > 0;) {
      filling.rest[i] = saturating_sum(filling.rest[i + 1], items_[filling.items[i]]);
    }
    return complete(filling, 0, room_[order_[step]], kMost);
  }

  /// Chooses among the candidates from `next` on, then fills the next device. `least_out` is the
  /// size of the smallest item left out before.
  bool complete(const Filling& filling, std::size_t next, Bytes room, Bytes least_out) {
    std::size_t kind_out = kNone;
    for (std::size_t i = next; i < filling.items.size(); ++i) {
      if (--steps_left_ <= 0) return false;
      const Bytes least = room > filling.rest[i] ? room - filling.rest[i] : 0;
      if (least > filling.slack || (least >= least_out && least_out != kMost)) return false;
      const std::size_t item = filling.items[i];
      if (kind_[item] == kind_out) continue;
      if (items_[item] <= room) {
        device_of_[item] = order_[filling.step];
        if (complete(filling, i + 1, room - items_[item], least_out)) return true;
        device_of_[item].reset();
        least_out = items_[item];
      }
      if (must_be_here(filling, i)) return false;
      kind_out = kind_[item];
    }
    if (room > filling.slack || (room >= least_out && least_out != kMost)) return false;
    return fill_from(filling.step + 1);
  }

  bool must_be_here(const Filling& filling, std::size_t candidate) const {
    return filling.forced == candidate || last_[filling.items[candidate]] == filling.step;
  }

  std::vector<std::size_t> found() const {
    std::vector<std::size_t> device;
    for (const auto& d : device_of_) device.push_back(*d);
    return device;
  }

  const std::vector<Bytes>& items_;
  const std::vector<Bytes>& room_;
  std::vector<std::vector<bool>> able_;  // item × device
  std::int64_t steps_left_;
  std::vector<std::optional<std::size_t>> device_of_;  // by item
  std::vector<std::size_t> kind_, by_size_;            // by item; items
  std::vector<std::size_t> order_, class_of_;          // devices; by step, equal for equal devices
  std::vector<Bytes> room_from_;                // by step: room of this device and all later ones
  std::vector<std::size_t> last_, only_class_;  // by item: its last step; its class, if only one
  bool some_item_fits_nowhere_ = false;
};

}  // namespace

ExactPacking pack_exactly(const std::vector<Bytes>& items, const std::vector<Bytes>& room,
                          const std::function<bool(std::size_t item, std::size_t device)>& able,
                          std::int64_t steps) {
  const Bytes needed = std::accumulate(items.begin(), items.end(), Bytes{0}, saturating_sum);
  const Bytes available = std::accumulate(room.begin(), room.end(), Bytes{0}, saturating_sum);
  if (needed > available) return {PackingOutcome::kNone, {}};
  if (items.size() + room.size() > kMostLevels) return {};
  return BinCompletion(items, room, able, steps).run();
}

}  // namespace hios::scheduler
