#pragma once

#include <cstddef>
#include <vector>

#include "engine/cold/loader.h"

namespace hios {

/// Consecutive loads of a lane that a device is given as one: nothing waits for an inner one.
struct JoinedLoads {
  std::size_t first = 0;
  std::size_t end = 0;  ///< after the last
  /// Copies of all of them, in order, neighbours as one.
  std::vector<ParameterCopy> copies = {};
};

/// Joins the loads of a lane. `awaited`: by load, true where something waits for its end. Copies
/// are neighbours where one ends as the next begins, both where they are kept and on the device.
std::vector<JoinedLoads> join_loads(const Loader::LaneOfCopies& loads,
                                    const std::vector<bool>& awaited);

}  // namespace hios
