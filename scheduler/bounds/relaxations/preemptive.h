#pragma once

#include <span>
#include <vector>

namespace hios::scheduler {

/// Work that cannot begin before `head_ms` nor end later than `tail_ms` before the end of all.
struct Job {
  double head_ms = 0;
  double work_ms = 0;
  double tail_ms = 0;
};

/// The largest, over all sets of jobs, of (least head + work / speed + least tail), which is what
/// Jackson's preemptive schedule on one machine of that speed takes; 0 without jobs. O(n log n).
/// Sorts the jobs by head.
double preemptive_ms(std::span<Job> jobs, double speed = 1);

}  // namespace hios::scheduler
