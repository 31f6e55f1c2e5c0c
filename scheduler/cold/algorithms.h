#pragma once

#include <vector>

#include "scheduler/scheduler.h"

namespace hios::scheduler {

/// Returns the room's rows of the registry: schedulers for cold starts alone.
std::vector<Algorithm> cold_start_algorithms();

}  // namespace hios::scheduler
