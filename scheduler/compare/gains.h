#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "hios/evaluate/cost_model.h"
#include "hios/evaluate/limits/gains.h"
#include "scheduler/bounds/bounds.h"

namespace hios::scheduler {

/// The largest graph whose gains come from lower_bound(). In larger ones the longest path and the
/// work bound them alone, in linear time.
inline constexpr std::size_t kMostOperatorsOfGains = 500;

/// Returns the most that these numbers of equal devices can gain over one, like the device that
/// runs all operators in the least time. Transfers between them take what they take between any two
/// of the costs' devices, or the median of what a profile measured, or nothing where that is not
/// known: then the bound is only weaker. Labels of colocation and the device's memory are kept,
/// `allowed` is not.
///
/// `known`: a bound for the costs' own devices, which counts where these are as many equal ones.
/// Returns nothing where no device can run all operators.
std::optional<Gains> gains_of(const CostModel& costs, std::span<const std::size_t> devices,
                              const std::optional<LowerBound>& known = {});

}  // namespace hios::scheduler
