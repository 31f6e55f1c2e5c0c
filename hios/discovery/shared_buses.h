#pragma once

#include <cstddef>
#include <vector>

/// Buses inferred from rates: routes that slow each other share one.
namespace hios::discovery {

/// Measured rates of routes, by position in one list, in 10⁹ bytes a second.
struct RouteRates {
  std::vector<double> alone;               ///< while no other route carries bytes
  std::vector<std::vector<double>> pairs;  ///< pairs[i][j]: of i while j carries bytes; i ≠ j
  std::vector<double> together;            ///< while all carry bytes; empty: not measured
};

/// The part of its rate that a route may lose by noise and still count as undisturbed.
inline constexpr double kRateNoise = 0.15;

struct SharedBus {
  std::vector<std::size_t> routes;  ///< at least two, ascending
  double gb_per_s = 0;
  bool operator==(const SharedBus&) const = default;
};

/// Returns the buses that explain by what the routes lose to each other: in pairs first, then,
/// all at once, beyond what the buses of pairs explain. A route that is on no bus disturbs no
/// other. A route slower than `noise` times another cannot be seen to slow it. In O(n³) for n
/// routes. REQUIRES: rates above 0 and as many as routes; 0 < noise < 1.
std::vector<SharedBus> shared_buses(const RouteRates& rates, double noise = kRateNoise);

/// Returns the rates of all routes at once over these buses, max-min fair. `alone`: their own.
std::vector<double> rates_together(const std::vector<double>& alone,
                                   const std::vector<SharedBus>& shared);

}  // namespace hios::discovery
