#pragma once

#include <optional>
#include <vector>

#include "scheduler/split/modules/modules.h"
#include "scheduler/split/modules/prove.h"

namespace hios::scheduler::split {

/// The bound and the schedule of a graph whose modules are joined by single operators.
struct ChainResult {
  double bound_ms = 0;               ///< a lower bound of schedules of one operator a stage
  std::optional<Schedule> schedule;  ///< the whole graph's, if each module has one and it is valid
  bool optimal = false;  ///< the schedule is optimal among those of one operator a stage
};

/// Finds the shortest path through the devices of the operators between modules; each module's time
/// depends on the devices of its entry and exit (Ghannane and Abdelfattah, "DiviML", section
/// IV-B1). Proves only modules and pairs of devices on shortest paths. Ends early where no path is
/// shorter than the incumbent or the deadline expires.
ChainResult shortest_chain(const CostModel& costs, const std::vector<Module>& modules,
                           double incumbent_ms, Prover& prover, const Context& context);

}  // namespace hios::scheduler::split
