#include "scheduler/list/device_classes.h"

#include <algorithm>
#include <limits>
#include <utility>

// Tests: tests/scheduler/algorithms/variants_test.cpp.

namespace hios::scheduler {
namespace {

constexpr double kCannotRun = 10;  ///< times the least

std::vector<double> least_ms(const Graph& graph, const CostModel& costs) {
  std::vector<double> least(graph.size(), std::numeric_limits<double>::infinity());
  for (std::size_t i = 0; i < graph.size(); ++i) {
    for (std::size_t d = 0; d < costs.platform().size(); ++d) {
      least[i] = std::min(least[i], costs.operator_ms(OpId(i), DeviceId(d)));
    }
  }
  return least;
}

/// Returns the sum, over operators, of the time on the device over the least time.
double slowness(const CostModel& costs, DeviceId device, const std::vector<double>& least) {
  double sum = 0;
  for (std::size_t i = 0; i < least.size(); ++i) {
    const double ms = costs.operator_ms(OpId(i), device);
    if (ms == least[i]) {
      sum += 1;
    } else {
      sum += least[i] > 0 ? std::min(ms / least[i], kCannotRun) : kCannotRun;
    }
  }
  return sum;
}

bool equally_fast(const CostModel& costs, std::size_t operators, DeviceId a, DeviceId b) {
  for (std::size_t i = 0; i < operators; ++i) {
    if (costs.operator_ms(OpId(i), a) != costs.operator_ms(OpId(i), b)) return false;
  }
  return true;
}

}  // namespace

std::vector<std::vector<DeviceId>> device_classes(const Graph& graph, const CostModel& costs) {
  const std::vector<double> least = least_ms(graph, costs);
  std::vector<std::pair<double, DeviceId>> devices;
  for (std::size_t d = 0; d < costs.platform().size(); ++d) {
    devices.emplace_back(slowness(costs, DeviceId(d), least), DeviceId(d));
  }
  std::sort(devices.begin(), devices.end());
  std::vector<std::vector<DeviceId>> classes;
  double slowness_of_class = 0;
  for (const auto& [slow, device] : devices) {
    const bool joins = !classes.empty() && slow == slowness_of_class &&
                       equally_fast(costs, graph.size(), classes.back().front(), device);
    if (!joins) classes.emplace_back();
    classes.back().push_back(device);
    slowness_of_class = slow;
  }
  return classes;
}

std::vector<std::vector<DeviceId>> fastest_devices(const Graph& graph, const CostModel& costs,
                                                   std::size_t most) {
  const std::vector<std::vector<DeviceId>> classes = device_classes(graph, costs);
  const std::size_t prefixes = classes.size() - 1;
  const std::size_t wanted = std::min(most, prefixes);
  std::vector<std::vector<DeviceId>> result;
  std::vector<DeviceId> fastest;
  for (std::size_t c = 0; c < prefixes; ++c) {
    fastest.insert(fastest.end(), classes[c].begin(), classes[c].end());
    if ((c + 1) * wanted / prefixes > result.size()) result.push_back(fastest);
  }
  return result;
}

}  // namespace hios::scheduler
