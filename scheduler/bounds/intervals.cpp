// Part of scheduler/bounds/bound_table.h: intervals_ms().

#include <algorithm>
#include <numeric>

#include "scheduler/bounds/bound_table.h"
#include "scheduler/bounds/preemptive.h"

// Let J be the operators of head >= a and tail >= b. All their work lies in the window [a, T − b],
// in which M devices have M·(T − b − a) time: T >= a + h(J)/M + b, h the window share (Fernandez
// and Bussell's interval argument with preemptive work). The largest over all a and b is what the
// preemptive schedule at M times the speed takes, in O(n log n).
//
// Where J's operators begin one after the other, M devices are not all busy from a on (Carlier's
// argument): let m of the devices run some of J, each from the least head of its own operators of J
// to the least tail of its own. These are heads of m different operators, so the sum of the m
// windows is at most m·T − (sum of the m least heads of J) − (sum of the m least tails). Hence T >=
// min over m <= M of (least heads + h(J) + least tails) / m. For J all pairs of a and b are tried,
// of large graphs only some a.
//
// Both also hold for the operators that can only come to some of the devices, and those devices.

namespace hios::scheduler {
namespace {

/// The operators in question, as jobs; their number of devices.
struct Confined {
  std::vector<Job> jobs;
  std::size_t devices = 1;
};

/// The least values that were put in, in order, and their sums.
class LeastOf {
 public:
  explicit LeastOf(std::size_t count) : count_(count) {}
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

/// The least over m of (m least heads + work + m least tails) / m.
double over_devices_used(const LeastOf& heads, double work, const LeastOf& tails) {
  double sum = work, least = 0;
  for (std::size_t m = 0; m < heads.values().size(); ++m) {
    sum += heads.values()[m] + tails.values()[m];
    const double latency = sum / static_cast<double>(m + 1);
    least = m == 0 ? latency : std::min(least, latency);
  }
  return least;
}

double staggered_ms(const Confined& confined) {
  constexpr std::size_t kLooks = 4'000'000, kMostDevices = 64;
  const std::size_t n = confined.jobs.size();
  if (n == 0 || confined.devices > kMostDevices) return 0;
  std::vector<double> begins;
  for (const Job& job : confined.jobs) begins.push_back(job.head_ms);
  std::sort(begins.begin(), begins.end());
  begins.erase(std::unique(begins.begin(), begins.end()), begins.end());
  const std::size_t step = 1 + begins.size() * n / kLooks;
  std::vector<Job> by_tail = confined.jobs;
  std::sort(by_tail.begin(), by_tail.end(),
            [](const Job& a, const Job& b) { return a.tail_ms > b.tail_ms; });
  double longest = 0;
  for (std::size_t a = 0; a < begins.size(); a += step) {
    LeastOf heads(confined.devices), tails(confined.devices);
    double work = 0;
    for (const Job& job : by_tail) {
      if (job.head_ms < begins[a]) continue;
      work += job.work_ms;
      heads.add(job.head_ms);
      tails.add(job.tail_ms);
      longest = std::max(longest, over_devices_used(heads, work, tails));
    }
  }
  return longest;
}

Confined confined_to(const std::vector<DeviceId>& devices, const BoundGraph& graph,
                     const Windows& windows) {
  const Places& places = *graph.places;
  std::vector<bool> inside(places.sets());
  for (std::size_t set = 0; set < places.sets(); ++set) {
    const auto& own = places.set(set);
    inside[set] = std::includes(devices.begin(), devices.end(), own.begin(), own.end());
  }
  Confined confined;
  confined.devices = devices.size();
  for (std::size_t v = 0; v < graph.size(); ++v) {
    if (!inside[places.set_of(graph.ops[v])]) continue;
    confined.jobs.push_back({windows.head[v], graph.window_ms[v], windows.tail[v]});
  }
  return confined;
}

double confined_ms(Confined confined) {
  const double preemptive =
      preemptive_ms(confined.jobs, static_cast<double>(std::max<std::size_t>(1, confined.devices)));
  return std::max(preemptive, staggered_ms(confined));
}

}  // namespace

double intervals_ms(const BoundGraph& graph, const Windows& windows, const BoundContext& context) {
  constexpr std::size_t kMostSets = 16;
  if (context.stopped()) return 0;
  Confined all;
  all.devices = graph.devices;
  for (std::size_t v = 0; v < graph.size(); ++v) {
    all.jobs.push_back({windows.head[v], graph.window_ms[v], windows.tail[v]});
  }
  double longest = confined_ms(std::move(all));
  const Places& places = *graph.places;
  for (std::size_t set = 0; set < std::min(kMostSets, places.sets()); ++set) {
    if (context.stopped()) break;
    if (places.set(set).size() >= graph.devices) continue;
    longest = std::max(longest, confined_ms(confined_to(places.set(set), graph, windows)));
  }
  return longest;
}

}  // namespace hios::scheduler
