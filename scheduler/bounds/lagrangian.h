#pragma once

#include <vector>

#include "scheduler/bounds/bound_context.h"

namespace hios::scheduler {

/// Returns a bound by the work of these operators on all devices, each on any device that can run
/// it (Lagrangian relaxation; proof in lagrangian.cpp).
double work_ms(const BoundContext& context, const std::vector<OpId>& operators);

/// Returns a bound by their work under memory limits, or 0 if no device has a limit.
double memory_ms(const BoundContext& context, const std::vector<OpId>& operators);

}  // namespace hios::scheduler
