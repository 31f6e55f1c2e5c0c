#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "hios/base/ids.h"
#include "hios/graph/graph.h"

namespace hios {

/// The most that several equal devices can gain: a latency that no schedule on them can beat.
struct Gain {
  std::size_t devices = 0;
  double bound_ms = 0;
  std::string bound;  ///< the bound's name
};

/// The gains of several devices over one, without a schedule of them.
struct Gains {
  DeviceId like;      ///< the device that all are like
  double one_ms = 0;  ///< all operators one after the other on one such device
  std::vector<Gain> gains;
  bool quick = false;  ///< the bounds are those of quick_gain(), though others may be larger
  bool serial = true;  ///< such a device runs one operator at a time, as `one_ms` has it
  /// Returns the largest speed-up over one device.
  double most(const Gain& gain) const { return gain.bound_ms > 0 ? one_ms / gain.bound_ms : 1; }
};

/// Returns the larger of the longest path and an equal share of the work. Linear in operators and
/// edges. By operator: the least time of it on a path, and the least that it adds to a device's
/// time; both are its time where devices run one operator at a time.
Gain quick_gain(const Graph& graph, std::span<const double> path_ms,
                std::span<const double> work_ms, std::size_t devices);

}  // namespace hios
