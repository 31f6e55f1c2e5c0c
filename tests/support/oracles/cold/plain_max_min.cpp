#include "support/oracles/cold/plain_max_min.h"

#include <algorithm>
#include <limits>
#include <set>

namespace hios::test {

std::vector<double> plain_max_min_rates(std::span<const double> capacity,
                                        std::span<const PlainFlow> flows) {
  std::vector<double> rates(flows.size(), 0);
  std::set<std::size_t> rising;
  for (std::size_t f = 0; f < flows.size(); ++f) rising.insert(f);
  const auto uses = [&](std::size_t f, std::size_t bus) {
    return std::count(flows[f].over.begin(), flows[f].over.end(), bus) > 0;
  };
  const auto left_on = [&](std::size_t bus) {
    double left = capacity[bus];
    for (std::size_t f = 0; f < flows.size(); ++f) left -= uses(f, bus) ? rates[f] : 0;
    return left;
  };
  while (!rising.empty()) {
    double step = std::numeric_limits<double>::infinity();
    for (const std::size_t f : rising) step = std::min(step, flows[f].limit - rates[f]);
    for (std::size_t bus = 0; bus < capacity.size(); ++bus) {
      const auto over =
          std::count_if(rising.begin(), rising.end(), [&](std::size_t f) { return uses(f, bus); });
      if (over > 0) step = std::min(step, left_on(bus) / static_cast<double>(over));
    }
    for (const std::size_t f : rising) rates[f] += step;
    std::set<std::size_t> stopped;
    for (const std::size_t f : rising) {
      if (rates[f] >= flows[f].limit * (1 - 1e-13)) stopped.insert(f);
      for (const std::size_t bus : flows[f].over) {
        if (left_on(bus) <= 1e-12 * capacity[bus]) stopped.insert(f);
      }
    }
    for (const std::size_t f : stopped) rising.erase(f);
  }
  return rates;
}

}  // namespace hios::test
