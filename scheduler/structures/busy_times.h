#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

namespace hios::scheduler {

// Test: tests/scheduler/structures/busy_times_test.cpp.

/// The times in which a device is busy, with what it does then, and the gaps between them. A search
/// for a gap visits gaps, not slots, since most slots follow each other without one.
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
  void clear() {
    slots_.clear();
    gaps_.clear();
    last_ms_ = kBefore;
  }

  /// Returns the start of the first gap from `ready_ms` on that holds so long a work. O(log(gaps) +
  /// gaps from then on). REQUIRES: all slots were inserted and do not overlap.
  double first_gap_ms(double ready_ms, double length_ms) const {
    return first_gap_ms(ready_ms, length_ms, [length_ms](double begin_ms, double end_ms) {
      return begin_ms + length_ms <= end_ms;
    });
  }
  /// The same for a work of at least this length, which depends on its begin: fits(begin, end of
  /// the gap).
  template <class Fits>
  requires std::predicate<Fits, double, double>
  double first_gap_ms(double ready_ms, double least_ms, const Fits& fits) const {
    // A work that rounding makes disappear may be between two slots without a gap.
    if (!(last_ms_ + least_ms / 2 > last_ms_)) return first_gap_among_slots(ready_ms, fits);
    auto gap = std::partition_point(gaps_.begin(), gaps_.end(),
                                    [ready_ms](const Gap& g) { return g.end_ms <= ready_ms; });
    for (; gap != gaps_.end(); ++gap) {
      const double begin_ms = std::max(ready_ms, gap->begin_ms);
      if (fits(begin_ms, gap->end_ms)) return begin_ms;
    }
    return std::max(ready_ms, last_ms_);
  }
  /// The same for a work that may take no time. O(slots from then on).
  template <class Fits>
  double first_gap_among_slots(double ready_ms, const Fits& fits) const {
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
    fill_gaps(start_ms, finish_ms);
  }
  /// Adds a slot at the end, wherever its times are.
  void append(double start_ms, double finish_ms, Work work) {
    slots_.push_back({start_ms, finish_ms, work});
  }

 private:
  /// A time without a slot that is not empty.
  struct Gap {
    double begin_ms;
    double end_ms;
  };
  static constexpr double kBefore = -std::numeric_limits<double>::infinity();

  /// Removes a slot from the gaps. One without length divides a gap, too.
  void fill_gaps(double start_ms, double finish_ms) {
    if (start_ms >= last_ms_) {
      if (start_ms > last_ms_) gaps_.push_back({last_ms_, start_ms});
      last_ms_ = finish_ms;
      return;
    }
    last_ms_ = std::max(last_ms_, finish_ms);
    auto gap = std::partition_point(gaps_.begin(), gaps_.end(),
                                    [start_ms](const Gap& g) { return g.end_ms <= start_ms; });
    while (gap != gaps_.end() && gap->begin_ms < finish_ms) {
      const Gap whole = *gap;
      if (whole.begin_ms < start_ms && finish_ms < whole.end_ms) {
        gap->end_ms = start_ms;
        gaps_.insert(gap + 1, {finish_ms, whole.end_ms});
        return;
      }
      if (whole.begin_ms < start_ms) {
        (gap++)->end_ms = start_ms;
      } else if (finish_ms < whole.end_ms) {
        gap->begin_ms = finish_ms;
        return;
      } else {
        gap = gaps_.erase(gap);
      }
    }
  }

  std::vector<Slot> slots_;
  std::vector<Gap> gaps_;     // in order, the first from before all slots; of inserted slots
  double last_ms_ = kBefore;  // the end of the last inserted slot
};

}  // namespace hios::scheduler
