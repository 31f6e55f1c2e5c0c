#include "hios/discovery/shared_buses.h"

#include <algorithm>
#include <limits>

#include "hios/evaluate/cold/flows.h"

// Two routes conflict if one is slower together with the other, beyond noise: they share a bus, and
// the sum of their rates is its bandwidth. Routes on one bus conflict pairwise with equal sums, so
// buses are sets of pairwise conflicts, found from the least bandwidth up. A pair may have a
// smaller sum than the bus that it is on, because it also shares a narrower one. Rates of all
// routes at once show buses that two routes do not fill: the routes that are slower than the buses
// so far predict (max-min fair) share another. Covering conflicts with as few buses as possible is
// NP-hard (clique cover); this adds routes to a bus in the order of their positions.
// tests/hios/discovery/shared_buses_test.cpp

namespace hios::discovery {
namespace {

/// Two routes that slow each other.
struct Conflict {
  std::size_t first = 0, second = 0;
  double sum = 0;
};

/// The conflicts of pairs of routes.
class Conflicts {
 public:
  Conflicts(const RouteRates& rates, double noise)
      : noise_(noise), sums_(rates.alone.size(), std::vector<double>(rates.alone.size(), 0)) {
    for (std::size_t i = 0; i < rates.alone.size(); ++i) {
      for (std::size_t j = i + 1; j < rates.alone.size(); ++j) {
        const double of_i = rates.pairs[i][j], of_j = rates.pairs[j][i];
        if (of_i >= (1 - noise) * rates.alone[i] && of_j >= (1 - noise) * rates.alone[j]) continue;
        sums_[i][j] = sums_[j][i] = of_i + of_j;
        list_.push_back({i, j, of_i + of_j});
      }
    }
    std::ranges::stable_sort(list_, {}, &Conflict::sum);
  }

  const std::vector<Conflict>& list() const { return list_; }  ///< by sum, least first

  /// Returns the bus of all routes that conflict pairwise as these two do, or more.
  SharedBus bus_of(const Conflict& conflict) const {
    SharedBus bus{{conflict.first, conflict.second}, 0};
    std::vector<double> sums = {conflict.sum};
    const double most = conflict.sum * (1 + noise_);
    for (std::size_t route = 0; route < sums_.size(); ++route) {
      const bool on_it = std::ranges::all_of(bus.routes, [&](std::size_t other) {
        return other != route && sums_[route][other] > 0 && sums_[route][other] <= most;
      });
      if (!on_it) continue;
      for (const std::size_t other : bus.routes) sums.push_back(sums_[route][other]);
      bus.routes.push_back(route);
    }
    // Sums below the first are those of narrower buses; they say nothing of this one.
    std::erase_if(sums, [&](double sum) { return sum < conflict.sum; });
    std::ranges::sort(sums);
    bus.gb_per_s = sums[sums.size() / 2];
    std::ranges::sort(bus.routes);
    return bus;
  }

 private:
  double noise_;
  std::vector<std::vector<double>> sums_;  ///< of each pair; 0: no conflict
  std::vector<Conflict> list_;
};

bool on_bus(const SharedBus& bus, std::size_t route) {
  return std::ranges::binary_search(bus.routes, route);
}

/// Returns the buses, each as fast as the fastest of its routes alone, or faster; without those all
/// of whose routes share another that is not faster.
std::vector<SharedBus> carrying_each(std::vector<SharedBus> buses, const RouteRates& rates) {
  for (SharedBus& bus : buses) {
    for (const std::size_t route : bus.routes)
      bus.gb_per_s = std::max(bus.gb_per_s, rates.alone[route]);
  }
  std::vector<SharedBus> needed;
  for (std::size_t b = 0; b < buses.size(); ++b) {
    bool superfluous = false;
    for (std::size_t other = 0; other < buses.size() && !superfluous; ++other) {
      const bool equal =
          buses[other].routes == buses[b].routes && buses[other].gb_per_s == buses[b].gb_per_s;
      superfluous = other != b && (!equal || other < b) &&
                    buses[other].gb_per_s <= buses[b].gb_per_s &&
                    std::ranges::includes(buses[other].routes, buses[b].routes);
    }
    if (!superfluous) needed.push_back(buses[b]);
  }
  return needed;
}

}  // namespace

std::vector<double> rates_together(const std::vector<double>& alone,
                                   const std::vector<SharedBus>& shared) {
  std::vector<Bus> buses;
  std::vector<std::vector<BusId>> over(alone.size());
  for (const SharedBus& bus : shared) {
    for (const std::size_t route : bus.routes) over[route].push_back(BusId(buses.size()));
    buses.push_back({"", bus.gb_per_s});
  }
  Flows flows(buses);
  for (std::size_t r = 0; r < over.size(); ++r)
    flows.start({.over = over[r], .gb_per_s = alone[r], .bytes = 1e12});
  std::vector<double> together;
  for (std::size_t r = 0; r < over.size(); ++r) together.push_back(flows.gb_per_s(r));
  return together;
}

std::vector<SharedBus> shared_buses(const RouteRates& rates, double noise) {
  const Conflicts conflicts(rates, noise);
  std::vector<SharedBus> buses;
  for (const Conflict& conflict : conflicts.list()) {
    const bool explained = std::ranges::any_of(buses, [&](const SharedBus& bus) {
      return on_bus(bus, conflict.first) && on_bus(bus, conflict.second) &&
             bus.gb_per_s <= conflict.sum * (1 + noise);
    });
    if (!explained) buses.push_back(conflicts.bus_of(conflict));
  }
  if (rates.together.empty()) return carrying_each(std::move(buses), rates);
  const std::vector<double> predicted = rates_together(rates.alone, buses);
  SharedBus of_all;
  for (std::size_t r = 0; r < predicted.size(); ++r) {
    if (rates.together[r] >= (1 - noise) * predicted[r]) continue;
    of_all.routes.push_back(r);
    of_all.gb_per_s += rates.together[r];
  }
  if (of_all.routes.size() > 1) buses.push_back(std::move(of_all));
  return carrying_each(std::move(buses), rates);
}

}  // namespace hios::discovery
