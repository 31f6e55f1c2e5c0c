#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "hios/graph/graph.h"
#include "hios/graph/parameters.h"
#include "hios/platform/platform.h"
#include "hios/schedule/schedule.h"

namespace hios::scheduler::deepplan {

/// How the parameters of one device are divided over its own bus and that of a second device.
enum class Split {
  kNone,         ///< its own bus alone
  kHalves,       ///< the first half of the bytes over its own; as DeepPlan was published
  kInterleaved,  ///< in turns: each load over the bus that would bring it first
};

/// Returns the split of that name: none, halves, interleaved. Throws InputError for another one.
Split split_named(std::string_view name);

/// A cold start of one device: its operators in order, and the way of their parameters.
struct Plan {
  DeviceId device;
  std::optional<DeviceId> second = {};  ///< the device that passes a part on
  Split split = Split::kNone;           ///< kNone: `second` has no value
  std::vector<bool> in_place = {};      ///< by set of parameters: all its operators read it so
};

/// Returns true if the second device can pass parameters on: a route leads to it from a store, and
/// from it to the device; and no bus that it shares with the device's own route from a store is as
/// slow as one of the two routes alone, since then nothing is gained. `bytes`: of all parameters,
/// by which a device's store is the nearest.
bool can_pass_on(const Platform& platform, DeviceId device, DeviceId second, Bytes bytes);

/// Returns the schedule of a plan: lanes in the order of use, from the nearest store to the device,
/// to the second device, and from there to the device. Returns nothing where the second device has
/// no room for its part. Throws InputError where no route leads from a store to the device.
/// REQUIRES: a topology; can_pass_on() a second device; routes and times for reads in place.
std::optional<Schedule> schedule_of(const Plan& plan, const std::vector<OpId>& order,
                                    const ParameterSets& parameters, const Graph& graph,
                                    const Platform& platform);

}  // namespace hios::scheduler::deepplan
