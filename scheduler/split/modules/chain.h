#pragma once

#include <optional>

#include "scheduler/split/modules/modules.h"
#include "scheduler/split/modules/prove.h"

namespace hios::scheduler::split {

/// What modules in a row make of a graph.
struct ChainResult {
  double bound_ms = 0;               ///< no schedule of one operator a stage takes less
  std::optional<Schedule> schedule;  ///< of the whole, where each module has one and it is valid
  bool optimal = false;              ///< the schedule is, among those of one operator a stage
};

/// The shortest way through the devices of the operators between modules, each module with a device
/// for its entry and one for its exit (Ghannane and Abdelfattah, "DiviML", section IV-B1). A module
/// is proved for those pairs alone that the shortest way needs. Ends early where no way is shorter
/// than `known_ms`, of a schedule that there is, or time is up.
ChainResult shortest_chain(const CostModel& costs, const std::vector<Module>& modules,
                           double known_ms, Prover& prover, const Context& context);

}  // namespace hios::scheduler::split
