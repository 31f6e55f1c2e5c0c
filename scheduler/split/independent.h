#pragma once

#include <cstddef>
#include <optional>

#include "hios/evaluate/cost_model.h"
#include "hios/schedule/schedule.h"
#include "scheduler/split/modules/prove.h"

namespace hios::scheduler::split {

/// Operators of a module of several components.
inline constexpr std::size_t kMostOfModule = 36;

/// Solves each module by itself, as if all of its inputs were there at its begin, and appends their
/// schedules device by device (Ghannane and Abdelfattah, "DiviML: A Module-based Heuristic for
/// Mapping Neural Networks onto Heterogeneous Platforms", section IV-B2, as printed): the modules
/// are those of modules_by_components(), joined up to `most` operators. Absent where a module has
/// no schedule or the whole is not valid, since memory and labels couple modules.
std::optional<Schedule> schedule_independently(const CostModel& costs, std::size_t channels,
                                               Prover& prover, std::size_t most = kMostOfModule);

}  // namespace hios::scheduler::split
