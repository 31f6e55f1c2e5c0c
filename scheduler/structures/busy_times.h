#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <utility>
#include <vector>

namespace hios::scheduler {

/// The times in which a device is busy, with what it does then, and the gaps between them.
template <class Work>
class BusyTimes {
 public:
  struct Slot {
    double start_ms;
    double finish_ms;
    Work work;
  };

  /// In order of start, then finish.
  const std::vector<Slot>& slots() const { return slots_; }
  void clear() { slots_.clear(); }

  /// Returns the start of the first gap from `ready_ms` on that holds so long a work. O(gaps from
  /// then on).
  double first_gap_ms(double ready_ms, double length_ms) const {
    return first_gap_ms(ready_ms, [length_ms](double begin_ms, double end_ms) {
      return begin_ms + length_ms <= end_ms;
    });
  }
  /// The same for a work whose length depends on its begin: fits(begin, end of the gap).
  template <class Fits>
  requires std::predicate<Fits, double, double>
  double first_gap_ms(double ready_ms, const Fits& fits) const {
    // Slots that end by then leave no gap that could be used.
    auto slot = std::partition_point(slots_.begin(), slots_.end(),
                                     [ready_ms](const Slot& s) { return s.finish_ms <= ready_ms; });
    for (; slot != slots_.end() && !fits(ready_ms, slot->start_ms); ++slot) {
      ready_ms = std::max(ready_ms, slot->finish_ms);
    }
    return ready_ms;
  }
  /// Returns the start after all slots.
  double end_ms(double ready_ms) const {
    return slots_.empty() ? ready_ms : std::max(ready_ms, slots_.back().finish_ms);
  }

  /// Adds a slot after those that are before it or equal. O(slots after it).
  void insert(double start_ms, double finish_ms, Work work) {
    auto at = slots_.end();
    while (at != slots_.begin() &&
           std::pair((at - 1)->start_ms, (at - 1)->finish_ms) > std::pair(start_ms, finish_ms)) {
      --at;
    }
    slots_.insert(at, {start_ms, finish_ms, work});
  }
  /// Adds a slot at the end, wherever its times are.
  void append(double start_ms, double finish_ms, Work work) {
    slots_.push_back({start_ms, finish_ms, work});
  }

 private:
  std::vector<Slot> slots_;
};

}  // namespace hios::scheduler
