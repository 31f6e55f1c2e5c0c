#include "scheduler/bounds/relaxations/confined.h"

#include <algorithm>
#include <numeric>

// Let J be the operators of head >= a and tail >= b. All their work lies in the window [a, T − b],
// in which a device of speed s (device_speeds()) processes at most s·(T − b − a) of h(J), h the
// window share: T >= a + h(J)/S + b, S the sum of all speeds (Fernandez and Bussell's interval
// argument with preemptive work). The maximum over all a and b is the length of the preemptive
// schedule at speed S, in O(n log n).
//
// If the operators of J start one after the other, the devices are not all busy from a on
// (Carlier's argument). Let m of the devices run operators of J, each from the least head of its
// own operators of J to the least tail of its own. These are heads of m different operators. So the
// devices process at most the sum of s·(T − head − tail). That is at most the sum for the m fastest
// devices with the m least heads and the m least tails of J, the least for the fastest (a sum of
// products is minimal in opposite order). A device without time left is covered by a smaller m.
// Hence T >= min over m of (h(J) + sum of s·(head + tail)) / (sum of s). J is taken for all pairs
// of a and b, in large graphs only for some a.

namespace hios::scheduler {
namespace {

/// The `count` smallest values added, in ascending order.
class SmallestValues {
 public:
  explicit SmallestValues(std::size_t count) : count_(count) {}
  void add(double value) {
    if (values_.size() == count_ && value >= values_.back()) return;
    values_.insert(std::upper_bound(values_.begin(), values_.end(), value), value);
    if (values_.size() > count_) values_.pop_back();
  }
  const std::vector<double>& values() const { return values_; }

 private:
  std::size_t count_;
  std::vector<double> values_;
};

/// Returns the minimum over m of (work + sum over the m fastest of speed · (head + tail)) / sum of
/// speeds.
double over_devices_used(const SmallestValues& heads, double work, const SmallestValues& tails,
                         const std::vector<double>& speeds) {
  double sum = work, speed = 0, least = 0;
  for (std::size_t m = 0; m < heads.values().size(); ++m) {
    sum += speeds[m] * (heads.values()[m] + tails.values()[m]);
    speed += speeds[m];
    const double latency = sum / speed;
    least = m == 0 ? latency : std::min(least, latency);
  }
  return least;
}

double staggered_ms(const Confined& confined) {
  constexpr std::size_t kMostSteps = 4'000'000, kMostDevices = 64;
  const std::size_t n = confined.jobs.size();
  if (n == 0 || confined.speeds.size() > kMostDevices) return 0;
  std::vector<double> starts;
  for (const Job& job : confined.jobs) starts.push_back(job.head_ms);
  std::sort(starts.begin(), starts.end());
  starts.erase(std::unique(starts.begin(), starts.end()), starts.end());
  const std::size_t step = 1 + starts.size() * n / kMostSteps;
  std::vector<Job> by_tail = confined.jobs;
  std::sort(by_tail.begin(), by_tail.end(),
            [](const Job& a, const Job& b) { return a.tail_ms > b.tail_ms; });
  double longest = 0;
  for (std::size_t a = 0; a < starts.size(); a += step) {
    SmallestValues heads(confined.speeds.size()), tails(confined.speeds.size());
    double work = 0;
    for (const Job& job : by_tail) {
      if (job.head_ms < starts[a]) continue;
      work += job.work_ms;
      heads.add(job.head_ms);
      tails.add(job.tail_ms);
      longest = std::max(longest, over_devices_used(heads, work, tails, confined.speeds));
    }
  }
  return longest;
}

}  // namespace

double confined_ms(Confined confined) {
  if (confined.jobs.empty()) return 0;
  const double speed = std::accumulate(confined.speeds.begin(), confined.speeds.end(), 0.0);
  const double preemptive = preemptive_ms(confined.jobs, speed);
  return std::max(preemptive, staggered_ms(confined));
}

}  // namespace hios::scheduler
