#include "scheduler/bounds/relaxations/preemptive.h"

#include <algorithm>
#include <queue>

// Jackson's preemptive schedule: at any time the machine works on the job with the longest tail
// among those whose head has passed. The maximum of (end of a job + its tail) equals the maximum of
// (least head + work + least tail) over sets of jobs (Carlier 1982).
// tests/scheduler/bounds/bounds_parts_test.cpp compares with all sets.

namespace hios::scheduler {
namespace {

struct Waiting {
  double tail_ms;
  double work_ms;
  bool operator<(const Waiting& other) const { return tail_ms < other.tail_ms; }
};

}  // namespace

double preemptive_ms(std::span<Job> jobs, double speed) {
  std::sort(jobs.begin(), jobs.end(),
            [](const Job& a, const Job& b) { return a.head_ms < b.head_ms; });
  std::priority_queue<Waiting> waiting;
  double now = 0, latest = 0;
  std::size_t next = 0;
  while (next < jobs.size() || !waiting.empty()) {
    if (waiting.empty()) now = std::max(now, jobs[next].head_ms);
    for (; next < jobs.size() && jobs[next].head_ms <= now; ++next) {
      waiting.push({jobs[next].tail_ms, jobs[next].work_ms / speed});
    }
    Waiting job = waiting.top();
    waiting.pop();
    if (next < jobs.size() && now + job.work_ms > jobs[next].head_ms) {
      job.work_ms -= jobs[next].head_ms - now;
      now = jobs[next].head_ms;
      waiting.push(job);
      continue;
    }
    now += job.work_ms;
    latest = std::max(latest, now + job.tail_ms);
  }
  return latest;
}

}  // namespace hios::scheduler
