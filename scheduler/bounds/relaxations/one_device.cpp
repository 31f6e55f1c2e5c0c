#include "scheduler/bounds/relaxations/one_device.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "scheduler/bounds/relaxations/preemptive.h"
#include "scheduler/structures/numbers.h"

// All of a device's work on the operators lies between their heads and tails, so the latency is at
// least that of the preemptive schedule on one machine (scheduler/bounds/graph/shares.cpp, 3, for
// every set of them).

namespace hios::scheduler {

ConnectedComponents::ConnectedComponents(std::size_t size) : parent_(size) {
  std::iota(parent_.begin(), parent_.end(), std::size_t{0});
}

std::size_t ConnectedComponents::root(std::size_t v) {
  while (parent_[v] != v) v = parent_[v] = parent_[parent_[v]];
  return v;
}

std::vector<std::vector<std::uint32_t>> ConnectedComponents::members() {
  std::vector<std::vector<std::uint32_t>> components;
  std::vector<std::size_t> number(parent_.size(), parent_.size());
  for (std::size_t v = 0; v < parent_.size(); ++v) {
    std::size_t& component = number[root(v)];
    if (component == parent_.size()) {
      component = components.size();
      components.emplace_back();
    }
    components[component].push_back(static_cast<std::uint32_t>(v));
  }
  return components;
}

OneDevice::OneDevice(const BoundGraph& graph, const BoundContext& context)
    : graph_(graph), context_(context) {
  const auto devices = context.costs.platform().devices();
  any_device_ = graph.allowed->sets() == 1 &&
                std::all_of(devices.begin(), devices.end(),
                            [](const Device& device) { return device.memory_bytes == 0; });
}

double OneDevice::shared_ms(std::span<const std::uint32_t> operators,
                            const TimeWindows& windows) const {
  if (!any_device_ && !has_a_device(operators)) return std::numeric_limits<double>::infinity();
  std::vector<Job> jobs;
  for (std::uint32_t v : operators) {
    jobs.push_back({windows.head[v], graph_.window_ms[v], windows.tail[v]});
  }
  return preemptive_ms(jobs);
}

bool OneDevice::has_a_device(std::span<const std::uint32_t> operators) const {
  double bytes = 0;
  std::vector<std::size_t> sets;
  for (std::uint32_t v : operators) {
    const Operator& op = context_.graph.op(graph_.ops[v]);
    bytes += static_cast<double>(op.memory_bytes) + static_cast<double>(op.parameter_bytes);
    sets.push_back(graph_.allowed->set_of(graph_.ops[v]));
  }
  std::sort(sets.begin(), sets.end());
  sets.erase(std::unique(sets.begin(), sets.end()), sets.end());
  const auto& first = graph_.allowed->set(sets.front());
  return std::any_of(first.begin(), first.end(), [&](DeviceId device) {
    const auto limit = static_cast<double>(context_.costs.platform().device(device).memory_bytes);
    if (limit > 0 && bytes * (1 - kRounding) > limit) return false;
    return std::all_of(sets.begin(), sets.end(), [&](std::size_t set) {
      const auto& able = graph_.allowed->set(set);
      return std::binary_search(able.begin(), able.end(), device);
    });
  });
}

}  // namespace hios::scheduler
