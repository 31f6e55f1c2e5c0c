#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "hios/evaluate/validate.h"
#include "hios/schedule/assignment.h"

namespace hios {

/// Checks a schedule's weights for validate(). No findings mean that simulate() gets all parameters
/// to their operators in time and without a deadlock, whatever the loads' speed. The schedule may
/// break other rules. `ordered`: its stages alone form no cyclic wait; otherwise those rules that
/// need an order of stages are left out. REQUIRES: weights; a list of stages for each device.
std::vector<Finding> validate_weights(const Graph& graph, const Platform& platform,
                                      const Schedule& schedule, const Assignment& assignment,
                                      bool ordered);

/// Returns "lanes[1][3]".
std::string path_of_load(std::size_t lane, std::size_t index);

}  // namespace hios
