#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "hios/evaluate/validate.h"

namespace hios {

/// Where an operator runs.
struct Place {
  DeviceId device;
  std::size_t stage = 0;
  std::size_t group = 0;
  std::size_t position = 0;  ///< in its group
};

/// What validate() asks about waiting: at least one finding for every knot of stages that wait for
/// each other, none where there is no such knot. Reports kDependentGroups where groups of a stage
/// depend on each other through operators outside it, kCycle otherwise. Edges inside a stage are
/// not looked at. `places` is by OpId; an operator without a place waits for nobody.
std::vector<Finding> find_deadlocks(const Graph& graph, const Platform& platform,
                                    const Schedule& schedule,
                                    std::span<const std::optional<Place>> places);

/// "conv_7 (device cpu0, stage 2, group 0)".
std::string describe_place(const Graph& graph, const Platform& platform, OpId op,
                           const Place& place);

}  // namespace hios
