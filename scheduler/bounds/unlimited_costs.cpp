#include "scheduler/bounds/unlimited_costs.h"

#include <utility>
#include <vector>

// Test: tests/scheduler/cold/bounds_test.cpp

namespace hios::scheduler {
namespace {

Platform without_limits(const Platform& platform) {
  std::vector<Device> devices(platform.devices().begin(), platform.devices().end());
  for (Device& device : devices) device.memory_bytes = 0;
  return platform.with_devices(std::move(devices));
}

}  // namespace

UnlimitedCosts::UnlimitedCosts(const CostModel& costs)
    : platform_(without_limits(costs.platform())), costs_(costs.on(platform_)) {}

}  // namespace hios::scheduler
