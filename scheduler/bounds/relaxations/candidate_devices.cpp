#include "scheduler/bounds/relaxations/candidate_devices.h"

#include <algorithm>
#include <functional>
#include <limits>

#include "scheduler/bounds/relaxations/confined.h"

// An operator v on device d takes its path share there, which lies between its virtual start and
// end (scheduler/bounds/graph/shares.cpp, 3): head + share + tail <= latency, or v is not on d.
// Excluding devices strengthens the other bounds: the least shares rise, and operators that have
// lost the slow devices compete for the others (confined.cpp).

namespace hios::scheduler {

CandidateDevices::CandidateDevices(const BoundGraph& graph, const BoundContext& context)
    : shares_(context.shares),
      devices_(context.costs.platform().size()),
      remaining_(graph.size(), ~DeviceSet{0}) {
  if (devices_ > kMostDevices) return;
  for (std::size_t v = 0; v < graph.size(); ++v) {
    remaining_[v] = 0;
    for (DeviceId device : graph.allowed->devices(graph.ops[v])) {
      remaining_[v] |= DeviceSet{1} << device.index();
    }
  }
}

bool CandidateDevices::narrow(BoundGraph& graph, const TimeWindows& windows, double latency_ms) {
  if (devices_ > kMostDevices) return false;
  bool risen = false;
  for (std::size_t v = 0; v < graph.size(); ++v) {
    double path = std::numeric_limits<double>::infinity(), window = path;
    for (DeviceId device : graph.allowed->devices(graph.ops[v])) {
      const DeviceSet bit = DeviceSet{1} << device.index();
      const double here = shares_.path_ms(graph.ops[v], device);
      if (windows.head[v] + here + windows.tail[v] > latency_ms) remaining_[v] &= ~bit;
      if ((remaining_[v] & bit) == 0) continue;
      path = std::min(path, here);
      window = std::min(window, shares_.window_ms(graph.ops[v], device));
    }
    if (remaining_[v] == 0) continue;
    risen = risen || path > graph.path_ms[v] || window > graph.window_ms[v];
    graph.path_ms[v] = std::max(graph.path_ms[v], path);
    graph.window_ms[v] = std::max(graph.window_ms[v], window);
  }
  return risen;
}

void CandidateDevices::unite(std::span<const std::uint32_t> operators) {
  DeviceSet common = ~DeviceSet{0};
  for (std::uint32_t v : operators) common &= remaining_[v];
  for (std::uint32_t v : operators) remaining_[v] = common;
}

bool CandidateDevices::any_without_device() const {
  return std::any_of(remaining_.begin(), remaining_.end(),
                     [](DeviceSet left) { return left == 0; });
}

double CandidateDevices::confined_ms(const BoundGraph& graph, const TimeWindows& windows) const {
  constexpr std::size_t kMostSets = 8;
  if (devices_ > kMostDevices) return 0;
  std::vector<DeviceSet> sets = remaining_;
  std::sort(sets.begin(), sets.end());
  sets.erase(std::unique(sets.begin(), sets.end()), sets.end());
  double longest = 0;
  for (std::size_t s = 0; s < std::min(sets.size(), kMostSets); ++s) {
    std::vector<std::uint32_t> inside;
    Confined confined;
    for (std::size_t v = 0; v < graph.size(); ++v) {
      if ((remaining_[v] & ~sets[s]) != 0) continue;
      inside.push_back(static_cast<std::uint32_t>(v));
      confined.jobs.push_back({windows.head[v], graph.window_ms[v], windows.tail[v]});
    }
    confined.speeds = speeds(inside, graph);
    longest = std::max(longest, scheduler::confined_ms(std::move(confined)));
  }
  return longest;
}

/// Returns device_speeds() for the remaining devices.
std::vector<double> CandidateDevices::speeds(const std::vector<std::uint32_t>& operators,
                                             const BoundGraph& graph) const {
  std::vector<double> by_device;
  for (std::size_t d = 0; d < devices_; ++d) {
    double speed = -1;
    for (std::uint32_t v : operators) {
      if ((remaining_[v] & DeviceSet{1} << d) == 0) continue;
      const double here = shares_.window_ms(graph.ops[v], DeviceId(d));
      speed = std::max(speed, here > graph.window_ms[v] ? graph.window_ms[v] / here : 1);
    }
    if (speed >= 0) by_device.push_back(speed);
  }
  std::sort(by_device.begin(), by_device.end(), std::greater<>());
  return by_device;
}

}  // namespace hios::scheduler
