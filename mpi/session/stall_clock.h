#pragma once

#include <algorithm>
#include <cstdint>

namespace hios::mpi {

/// The time for which a count of progress has not moved, by readings at regular intervals.
///
/// If two readings are further apart than their interval by more than a second (or half of a
/// shorter time-out), then this process did not run: its whole job may have been stopped and
/// continued (SIGSTOP, a batch system that suspends it). The time of the gap says nothing then, and
/// ranks are not continued at the same moment, so the count begins again, once. Further gaps
/// without progress in between are left out of the count, or a rank that hangs in a job that is
/// paused now and then (gang scheduling) would never be found. A rank that alone is stopped is
/// found by the others, whose readings stay regular.
///
/// It has no clock of its own, so that tests need no time and signal handlers may use it.
class StallClock {
 public:
  /// `now_s`: the time of the first reading, by a clock that only grows. REQUIRES: timeout_s > 0,
  /// and 0 < interval_s <= timeout_s.
  StallClock(double timeout_s, double interval_s, std::uint64_t progress, double now_s) noexcept
      : timeout_s_(timeout_s),
        longest_gap_s_(interval_s + std::min(1.0, timeout_s / 2)),
        progress_(progress),
        since_s_(now_s),
        read_s_(now_s) {}

  /// Takes a reading. Returns true once the progress has not moved for the time-out.
  bool stalled(std::uint64_t progress, double now_s) noexcept {
    const double gap_s = now_s - read_s_;
    read_s_ = now_s;
    if (progress != progress_) {
      progress_ = progress;
      since_s_ = now_s;
      began_again_ = false;
    } else if (gap_s > longest_gap_s_) {
      since_s_ = began_again_ ? since_s_ + gap_s : now_s;
      began_again_ = true;
    }
    return now_s - since_s_ >= timeout_s_;
  }

 private:
  double timeout_s_;
  double longest_gap_s_;
  std::uint64_t progress_;
  double since_s_;            ///< the count began then
  double read_s_;             ///< the time of the last reading
  bool began_again_ = false;  ///< after a gap, since the last progress
};

}  // namespace hios::mpi
