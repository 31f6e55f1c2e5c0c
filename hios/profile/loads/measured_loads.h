#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "hios/base/ids.h"

namespace hios {

/// The loads of a network's parameters from one store to the memory of a rank, by one lane, in
/// bytes as the graph counts them. Loading all of them alone takes start_ms, latency_ms for each,
/// and their bytes at gb_per_s.
struct MeasuredLoads {
  double start_ms = 0;           ///< once, before the lane's first load
  double latency_ms = 0;         ///< of each load
  double gb_per_s = 0;           ///< while other ranks are idle; 10⁹ bytes a second
  double together_gb_per_s = 0;  ///< of each rank, while all ranks load
  double slowdown = 1;           ///< operators take so many times as long while a load is under way
  double load_slowdown = 1;      ///< loads take so many times as long while operators run
  std::vector<std::pair<Bytes, double>> points;  ///< (bytes, ms), by increasing size
  std::int64_t samples = 0;                      ///< rounds, on all ranks
  std::string network = {};                      ///< whose parameters were loaded; empty: not known
  bool operator==(const MeasuredLoads&) const = default;
};

/// The time of an operator that reads its parameters in place.
struct InPlaceMeasurement {
  double ms = 0;
  Bytes size_bytes = 0;  ///< its parameters, as the graph counts them
  std::int64_t samples = 0;
  bool operator==(const InPlaceMeasurement&) const = default;
};

}  // namespace hios
