#pragma once

#include <cstddef>
#include <string>
#include <tuple>
#include <vector>

#include "hios/evaluate/cost_model.h"
#include "hios/evaluate/timeline.h"
#include "hios/graph/graph.h"
#include "hios/schedule/schedule.h"

namespace hios {

/// The time that a device waits for the tensor of an operator on another device.
struct Wait {
  OpId producer;
  DeviceId from;
  double ms = 0;
  static auto fields(auto& self) { return std::tie(self.producer, self.from, self.ms); }
};

/// The time that a device waits for parameters that a lane loads.
struct LoadWait {
  OpId of;  ///< an operator that they belong to
  std::size_t lane = 0;
  double ms = 0;
  static auto fields(auto& self) { return std::tie(self.of, self.lane, self.ms); }
};

/// The use of a device's time in an inference: all of it adds up to the latency.
struct DeviceTimes {
  double busy_ms = 0;       ///< in stages
  std::vector<Wait> waits;  ///< the longest first, each producer once
  double idle_ms = 0;       ///< the rest: before its first stage and after its last one
  std::vector<LoadWait> load_waits = {};  ///< the longest first, each load once
  double waiting_ms() const;
  static auto fields(auto& self) {
    return std::tie(self.busy_ms, self.waits, self.idle_ms, self.load_waits);
  }
};

/// Returns the use of each device's time in a planned timeline. A stage's whole wait counts for the
/// tensor or the load that arrives last. Linear in operators and edges, but for sorting. REQUIRES:
/// the timeline is simulate()'s of this schedule with these costs.
std::vector<DeviceTimes> device_times(const Graph& graph, const Schedule& schedule,
                                      const Timeline& timeline, const CostModel& costs);

/// Joins waits for the same producer, or the same load, and puts the longest first.
void tidy_waits(std::vector<Wait>& waits);
void tidy_waits(std::vector<LoadWait>& waits);

/// The waits of a device for one other device.
struct WaitsFor {
  DeviceId from;
  double ms = 0;
  std::vector<OpId> producers;  ///< the longest wait first
};

/// The waits of a device for one lane.
struct WaitsForLane {
  std::size_t lane = 0;
  double ms = 0;
  std::vector<OpId> operators;  ///< the longest wait first
};

/// Returns the waits by the lane that is waited for, the longest first.
std::vector<WaitsForLane> waits_by_lane(const DeviceTimes& times);

/// Returns the waits by the device that is waited for, the longest first.
std::vector<WaitsFor> waits_by_device(const DeviceTimes& times);

}  // namespace hios
