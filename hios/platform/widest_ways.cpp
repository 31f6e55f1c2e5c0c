#include "hios/platform/widest_ways.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <queue>
#include <string>
#include <tuple>
#include <utility>

#include "hios/base/error.h"

// Two searches from each device, both Dijkstra's. The first finds the width of the widest way to
// every other device. A way of that width with the least latency is then a shortest way over the
// links that are wide enough, so the second is run once for each width that occurred. One search
// for both at once would be wrong: the first part of a best way need not be widest itself, where a
// narrower link comes later.
//
// Which of several ways with equal width and latency is taken shows nowhere, since only width and
// latency are kept. Tests: widest_ways_test (equal to the best of all ways, one by one).

namespace hios {
namespace {

class Ways {
 public:
  Ways(std::size_t devices, std::vector<DirectedLink> links) : from_(devices) {
    std::sort(links.begin(), links.end(), [](const DirectedLink& a, const DirectedLink& b) {
      return std::tie(a.from, a.to) < std::tie(b.from, b.to);
    });
    for (const DirectedLink& link : links) from_[link.from.index()].push_back(link);
  }

  /// By device; 0 where no way leads.
  std::vector<double> widths(std::size_t source) const {
    std::vector<double> width(from_.size(), 0);
    width[source] = std::numeric_limits<double>::infinity();
    std::priority_queue<std::pair<double, std::size_t>> next;
    next.emplace(width[source], source);
    while (!next.empty()) {
      const auto [wide, device] = next.top();
      next.pop();
      if (wide < width[device]) continue;
      for (const DirectedLink& link : from_[device]) {
        const double through = std::min(wide, link.link.gb_per_s);
        if (through <= width[link.to.index()]) continue;
        width[link.to.index()] = through;
        next.emplace(through, link.to.index());
      }
    }
    return width;
  }

  /// By device, over links that are at least so wide.
  std::vector<double> latencies(std::size_t source, double width) const {
    std::vector<double> latency(from_.size(), std::numeric_limits<double>::infinity());
    latency[source] = 0;
    using Reached = std::pair<double, std::size_t>;
    std::priority_queue<Reached, std::vector<Reached>, std::greater<>> next;
    next.emplace(0, source);
    while (!next.empty()) {
      const auto [ms, device] = next.top();
      next.pop();
      if (ms > latency[device]) continue;
      for (const DirectedLink& link : from_[device]) {
        const double through = ms + link.link.latency_ms;
        if (link.link.gb_per_s < width || through >= latency[link.to.index()]) continue;
        latency[link.to.index()] = through;
        next.emplace(through, link.to.index());
      }
    }
    return latency;
  }

 private:
  std::vector<std::vector<DirectedLink>> from_;
};

}  // namespace

std::vector<DirectedLink> widest_ways(std::size_t devices, std::vector<DirectedLink> links) {
  if (devices > kMostRoutedDevices) {
    throw InputError("platform: routing \"widest\" serves up to " +
                     std::to_string(kMostRoutedDevices) + " devices, not " +
                     std::to_string(devices) + "; give links between all of them and \"direct\"");
  }
  const Ways ways(devices, std::move(links));
  std::vector<DirectedLink> found;
  for (std::size_t source = 0; source < devices; ++source) {
    const std::vector<double> width = ways.widths(source);
    std::vector<double> occurring = width;
    occurring[source] = 0;
    std::sort(occurring.begin(), occurring.end());
    occurring.erase(std::unique(occurring.begin(), occurring.end()), occurring.end());
    std::vector<double> best(devices, 0);
    for (const double wide : occurring) {
      if (wide == 0) continue;
      const std::vector<double> latency = ways.latencies(source, wide);
      for (std::size_t to = 0; to < devices; ++to) {
        if (width[to] == wide) best[to] = latency[to];
      }
    }
    for (std::size_t to = 0; to < devices; ++to) {
      if (to == source || width[to] == 0) continue;
      found.push_back({DeviceId(source), DeviceId(to), {best[to], width[to]}});
    }
  }
  return found;
}

}  // namespace hios
