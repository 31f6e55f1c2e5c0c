#pragma once

#include <span>
#include <utility>
#include <vector>

#include "hios/base/ids.h"
#include "hios/profile/loads/measured_loads.h"

/// Latencies, rates and slowdowns from measured times: pure functions.
namespace hios {

/// A straight line of times by size.
struct RateLine {
  double latency_ms = 0;
  double gb_per_s = 0;  ///< at most kMaxGbPerS
};

/// Returns the line with the least relative errors, neither falling nor below 0. Times below a
/// nanosecond count as one. REQUIRES: points.
RateLine relative_line(std::span<const std::pair<Bytes, double>> points);

/// The loads of a lane, in order, while nothing else runs on its rank.
struct LaneAlone {
  std::vector<Bytes> sizes;  ///< by load
  std::vector<double> ms;    ///< by load; as many
  double lead_ms = 0;        ///< from the lane's start to that of its first load
};

/// Returns start, latency, rate and points of a lane. They give its whole time, whatever the sizes:
/// the rate is that of the bytes after latencies. A first load that takes longer than later ones
/// of its size adds to start_ms, unless it has most of the bytes. together_gb_per_s is the rate
/// alone. REQUIRES: a load, all of more than 0 bytes.
MeasuredLoads fit_loads(const LaneAlone& lane);

/// Returns the rate of lanes that took `whole_ms`, from their start, with the start and the
/// latencies of this fit; at most its own rate. REQUIRES: a fit of these loads.
double together_gb_per_s(const MeasuredLoads& alone, const LaneAlone& lane, double whole_ms);

/// Operators and loads that began at the same time, and their times without each other.
struct Overlapped {
  double operators_alone_ms = 0, loads_alone_ms = 0;
  double operators_ms = 0, loads_ms = 0;
};

struct Slowdowns {
  double operators = 1, loads = 1;
};

/// Returns how many times as long operators and loads take while both are under way: what is left
/// of the longer one runs alone. Both are 1 to kMostSlowdown, and 1 where they hardly overlap.
Slowdowns slowdowns_of(const Overlapped& times);

}  // namespace hios
