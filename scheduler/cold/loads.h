#pragma once

#include <optional>
#include <vector>

#include "hios/evaluate/cost_model.h"
#include "hios/graph/graph.h"
#include "hios/graph/parameters.h"
#include "hios/platform/platform.h"
#include "hios/schedule/schedule.h"

namespace hios::scheduler {

/// When stages may start, other than by their own parameters.
enum class LoadOrder {
  kPipelined,  ///< a stage waits for its own parameters
  kLoadFirst,  ///< and for all others
};

/// Returns the first operator of each set of parameters that a device's stages need, in the order
/// in which they need them.
std::vector<OpId> first_uses(const std::vector<Stage>& stages, const ParameterSets& parameters);

/// Returns the store whose route to the device takes the least time for so many bytes, the first of
/// several; nothing where no route leads from a store to the device. REQUIRES: a topology.
std::optional<StoreId> nearest_store(const Platform& platform, DeviceId device, Bytes bytes);

/// Returns nearest_store() of all these operators' parameters. Throws InputError where no route
/// leads from a store to the device. REQUIRES: a topology, and an operator.
StoreId require_store(const Graph& graph, const Platform& platform, DeviceId device,
                      const std::vector<OpId>& uses);

/// Returns a schedule for a cold start: the given one, and for each device that needs parameters a
/// lane that loads them in the order of their first use, each once, from the store whose route
/// takes the least time for all of them (the first of several). Throws InputError where no route
/// leads from a store to such a device. REQUIRES: a topology, and a schedule that is valid without
/// loads.
Schedule with_loads(Schedule schedule, const Graph& graph, const Platform& platform,
                    LoadOrder order = LoadOrder::kPipelined);

/// Returns true if a device's cores copy what the route brings, as a profile measures them: by a
/// lane's start, or a slowdown. Ranks that pass a lane or parameters on to each other then wait
/// for cores, which takes milliseconds that nothing measures, and that a load from the store does
/// not take.
bool copied_by_cores(const Route& route);

/// Returns, by device, the first of the devices whose routes from their stores share a bus with its
/// own, directly or through others. `stores`: by device; one without a store shares none, nor does
/// one whose cores copy.
std::vector<std::size_t> sharing_devices(const Platform& platform,
                                         const std::vector<std::optional<StoreId>>& stores);

/// Returns with_loads(), but devices whose loads share a bus have one lane together. It loads in
/// the order in which stages would start if all parameters were there, so that no load takes
/// bandwidth from one that is needed before it. Throws as with_loads(). REQUIRES: the same, and no
/// weights.
Schedule with_shared_lanes(Schedule schedule, const Graph& graph, const CostModel& costs);

}  // namespace hios::scheduler
