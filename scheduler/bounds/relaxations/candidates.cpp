#include "scheduler/bounds/relaxations/candidates.h"

#include <algorithm>
#include <functional>
#include <limits>

#include "scheduler/bounds/relaxations/confined.h"

// An operator v on device d takes its path share there, which lies between its virtual begin and
// end (shares.cpp, 3): head + share + tail <= latency, or v is not on d. What is left narrows all
// else: the least shares rise, and operators that have lost the slow devices compete for the others
// (confined.cpp).

namespace hios::scheduler {

Candidates::Candidates(const BoundGraph& graph, const BoundContext& context)
    : shares_(context.shares),
      devices_(context.costs.platform().size()),
      left_(graph.size(), ~Set{0}) {
  if (devices_ > kMostDevices) return;
  for (std::size_t v = 0; v < graph.size(); ++v) {
    left_[v] = 0;
    for (DeviceId device : graph.places->devices(graph.ops[v])) {
      left_[v] |= Set{1} << device.index();
    }
  }
}

bool Candidates::narrow(BoundGraph& graph, const Windows& windows, double latency_ms) {
  if (devices_ > kMostDevices) return false;
  bool risen = false;
  for (std::size_t v = 0; v < graph.size(); ++v) {
    double path = std::numeric_limits<double>::infinity(), window = path;
    for (DeviceId device : graph.places->devices(graph.ops[v])) {
      const Set bit = Set{1} << device.index();
      const double here = shares_.path_ms(graph.ops[v], device);
      if (windows.head[v] + here + windows.tail[v] > latency_ms) left_[v] &= ~bit;
      if ((left_[v] & bit) == 0) continue;
      path = std::min(path, here);
      window = std::min(window, shares_.window_ms(graph.ops[v], device));
    }
    if (left_[v] == 0) continue;
    risen = risen || path > graph.path_ms[v] || window > graph.window_ms[v];
    graph.path_ms[v] = std::max(graph.path_ms[v], path);
    graph.window_ms[v] = std::max(graph.window_ms[v], window);
  }
  return risen;
}

void Candidates::unite(std::span<const std::uint32_t> operators) {
  Set common = ~Set{0};
  for (std::uint32_t v : operators) common &= left_[v];
  for (std::uint32_t v : operators) left_[v] = common;
}

bool Candidates::any_without() const {
  return std::any_of(left_.begin(), left_.end(), [](Set left) { return left == 0; });
}

double Candidates::confined_ms(const BoundGraph& graph, const Windows& windows) const {
  constexpr std::size_t kMostSets = 8;
  if (devices_ > kMostDevices) return 0;
  std::vector<Set> sets = left_;
  std::sort(sets.begin(), sets.end());
  sets.erase(std::unique(sets.begin(), sets.end()), sets.end());
  double longest = 0;
  for (std::size_t s = 0; s < std::min(sets.size(), kMostSets); ++s) {
    std::vector<std::uint32_t> inside;
    Confined confined;
    for (std::size_t v = 0; v < graph.size(); ++v) {
      if ((left_[v] & ~sets[s]) != 0) continue;
      inside.push_back(static_cast<std::uint32_t>(v));
      confined.jobs.push_back({windows.head[v], graph.window_ms[v], windows.tail[v]});
    }
    confined.speeds = speeds(inside, graph);
    longest = std::max(longest, scheduler::confined_ms(std::move(confined)));
  }
  return longest;
}

/// As device_speeds(), of what is left.
std::vector<double> Candidates::speeds(const std::vector<std::uint32_t>& operators,
                                       const BoundGraph& graph) const {
  std::vector<double> by_device;
  for (std::size_t d = 0; d < devices_; ++d) {
    double speed = -1;
    for (std::uint32_t v : operators) {
      if ((left_[v] & Set{1} << d) == 0) continue;
      const double here = shares_.window_ms(graph.ops[v], DeviceId(d));
      speed = std::max(speed, here > graph.window_ms[v] ? graph.window_ms[v] / here : 1);
    }
    if (speed >= 0) by_device.push_back(speed);
  }
  std::sort(by_device.begin(), by_device.end(), std::greater<>());
  return by_device;
}

}  // namespace hios::scheduler
