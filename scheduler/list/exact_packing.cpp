#include "scheduler/list/exact_packing.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "scheduler/structures/saturating_sum.h"

// Devices are filled one after the other (Martello and Toth's bin completion), each with every set
// of the items left that may matter, larger items first:
//  - A set that has room for another item left over is not tried: where some packing has that set
//    there, moving the item to it gives another one.
//  - What stays empty on this device and all later ones is their room less the items: no set leaves
//    more than that.
//  - Of items that nothing distinguishes, one left out means that the others are.
//  - An item that no later device may take stays here. So does the first that only devices equal to
//    this one may take: one of them has it, and which does not matter.
// Tests: exact_packing_test (equal to trying all assignments), packing_test.

namespace hios::scheduler {
namespace {

constexpr Bytes kMost = std::numeric_limits<Bytes>::max();
constexpr std::size_t kMostLevels = 1500;  // items and devices: how deep the search may nest

class BinCompletion {
 public:
  BinCompletion(const std::vector<Bytes>& items, const std::vector<Bytes>& room,
                const std::function<bool(std::size_t, std::size_t)>& able, std::int64_t steps)
      : items_(items), room_(room), steps_(steps), place_(items.size()) {
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
    return {steps_ > 0 ? PackingOutcome::kNone : PackingOutcome::kUndecided, {}};
  }

 private:
  static constexpr std::size_t kNobody = std::numeric_limits<std::size_t>::max();

  /// The items that a device may still take, the largest first, and how much may stay empty.
  struct Filling {
    std::size_t step;                ///< the device's place in the order
    std::vector<std::size_t> items;  // candidates
    std::vector<Bytes> rest;         // of the candidates from this one on
    std::size_t forced = kNobody;    ///< the candidate that must be taken, of several the first
    Bytes slack = 0;
  };

  bool may_go(std::size_t item, std::size_t device) const {
    return able_[item][device] && items_[item] <= room_[device];
  }

  /// Items are of one kind where they are as large and may go to the same devices.
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

  /// Those without a limit first, since they take all that they may, then small ones first; equal
  /// ones side by side.
  void order_devices() {
    std::vector<std::vector<bool>> takes(room_.size());
    for (std::size_t d = 0; d < room_.size(); ++d) {
      for (const auto& able : able_) takes[d].push_back(able[d]);
    }
    order_.resize(room_.size());
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    std::stable_sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) {
      // Room for all wraps round to 0.
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
      std::size_t first = kNobody, last = kNobody;
      for (std::size_t i = 0; i < order_.size(); ++i) {
        if (!may_go(item, order_[i])) continue;
        if (first == kNobody) first = i;
        last = i;
      }
      some_item_fits_nowhere_ = some_item_fits_nowhere_ || last == kNobody;
      if (last == kNobody) continue;
      last_.push_back(last);
      only_class_.push_back(class_of_[first] == class_of_[last] ? class_of_[first] : kNobody);
    }
  }

  bool fill_from(std::size_t step) {
    if (step == order_.size()) {
      return std::all_of(place_.begin(), place_.end(), [](const auto& p) { return p.has_value(); });
    }
    Filling filling{step, {}, {}, kNobody, 0};
    Bytes left = 0;
    for (std::size_t item : by_size_) {
      if (place_[item]) continue;
      left = saturating_sum(left, items_[item]);
      if (!may_go(item, order_[step])) continue;
      const bool here = last_[item] == step || only_class_[item] == class_of_[step];
      if (filling.forced == kNobody && here) filling.forced = filling.items.size();
      filling.items.push_back(item);
    }
    steps_ -= static_cast<std::int64_t>(items_.size());
    if (left > room_from_[step]) return false;
    filling.slack = room_from_[step] == kMost ? kMost : room_from_[step] - left;
    filling.rest.assign(filling.items.size() + 1, 0);
    for (std::size_t i = filling.items.size(); i-- > 0;) {
      filling.rest[i] = saturating_sum(filling.rest[i + 1], items_[filling.items[i]]);
    }
    return complete(filling, 0, room_[order_[step]], kMost);
  }

  /// Goes on with the candidates from `next` on; `least_out`: the smallest left out before.
  bool complete(const Filling& filling, std::size_t next, Bytes room, Bytes least_out) {
    std::size_t kind_out = kNobody;
    for (std::size_t i = next; i < filling.items.size(); ++i) {
      if (--steps_ <= 0) return false;
      const Bytes least = room > filling.rest[i] ? room - filling.rest[i] : 0;
      if (least > filling.slack || (least >= least_out && least_out != kMost)) return false;
      const std::size_t item = filling.items[i];
      if (kind_[item] == kind_out) continue;
      if (items_[item] <= room) {
        place_[item] = order_[filling.step];
        if (complete(filling, i + 1, room - items_[item], least_out)) return true;
        place_[item].reset();
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
    for (const auto& place : place_) device.push_back(*place);
    return device;
  }

  const std::vector<Bytes>& items_;
  const std::vector<Bytes>& room_;
  std::vector<std::vector<bool>> able_;            // item × device
  std::int64_t steps_;                             // left
  std::vector<std::optional<std::size_t>> place_;  // by item
  std::vector<std::size_t> kind_, by_size_;        // by item; items
  std::vector<std::size_t> order_, class_of_;   // devices; by step, equal where devices are equal
  std::vector<Bytes> room_from_;                // by step: of this device and all later ones
  std::vector<std::size_t> last_, only_class_;  // by item: step; class, where it has but one
  bool some_item_fits_nowhere_ = false;
};

}  // namespace

ExactPacking pack_exactly(const std::vector<Bytes>& items, const std::vector<Bytes>& room,
                          const std::function<bool(std::size_t item, std::size_t device)>& able,
                          std::int64_t steps) {
  const Bytes needed = std::accumulate(items.begin(), items.end(), Bytes{0}, saturating_sum);
  const Bytes there_is = std::accumulate(room.begin(), room.end(), Bytes{0}, saturating_sum);
  if (needed > there_is) return {PackingOutcome::kNone, {}};
  if (items.size() + room.size() > kMostLevels) return {};
  return BinCompletion(items, room, able, steps).run();
}

}  // namespace hios::scheduler
