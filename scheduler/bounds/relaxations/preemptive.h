#pragma once

#include <span>
#include <vector>

namespace hios::scheduler {

/// Work that cannot start before `head_ms` nor end later than `tail_ms` before the end of the
/// schedule.
struct Job {
  double head_ms = 0;
  double work_ms = 0;
  double tail_ms = 0;
};

/// Returns the maximum, over all sets of jobs, of (least head + work / speed + least tail), or 0
/// without jobs. It is the length of Jackson's preemptive schedule on one machine of that speed.
/// O(n log n). Sorts the jobs by head.
double preemptive_ms(std::span<Job> jobs, double speed = 1);

}  // namespace hios::scheduler
