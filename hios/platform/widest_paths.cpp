#include "hios/platform/widest_paths.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <queue>
#include <string>
#include <tuple>
#include <utility>

#include "hios/base/error.h"

// Two searches from each device, both Dijkstra's. The first finds the width of the widest path to
// every other device. A path of that width with the least latency is then a shortest path over the
// links that are wide enough, so the second search runs once for each width that occurs. One search
// for both at once would be wrong: a prefix of a best path need not be widest itself, where a
// narrower link comes later.
//
// Only width and latency of a path are kept, so ties between paths have no effect. Tests:
// tests/hios/platform/widest_paths_test.cpp compares with the best of all paths, enumerated.

namespace hios {
namespace {

class Paths {
 public:
  Paths(std::size_t devices, std::vector<DirectedLink> links) : from_(devices) {
    std::sort(links.begin(), links.end(), [](const DirectedLink& a, const DirectedLink& b) {
      return std::tie(a.from, a.to) < std::tie(b.from, b.to);
    });
    for (const DirectedLink& link : links) from_[link.from.index()].push_back(link);
  }

  /// Returns the width of the widest path to each device; 0 where there is none.
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

  /// Returns the least latency to each device over links of at least this width.
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

std::vector<DirectedLink> widest_paths(std::size_t devices, std::vector<DirectedLink> links) {
  if (devices > kMostRoutedDevices) {
    throw InputError("platform: routing \"widest\" serves up to " +
                     std::to_string(kMostRoutedDevices) + " devices, not " +
                     std::to_string(devices) + "; give links between all of them and \"direct\"");
  }
  const Paths paths(devices, std::move(links));
  std::vector<DirectedLink> found;
  for (std::size_t source = 0; source < devices; ++source) {
    const std::vector<double> width = paths.widths(source);
    std::vector<double> occurring = width;
    occurring[source] = 0;
    std::sort(occurring.begin(), occurring.end());
    occurring.erase(std::unique(occurring.begin(), occurring.end()), occurring.end());
    std::vector<double> best(devices, 0);
    for (const double wide : occurring) {
      if (wide == 0) continue;
      const std::vector<double> latency = paths.latencies(source, wide);
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
