#pragma once

#include "scheduler/milp/solver.h"

namespace hios::scheduler::milp {

/// Returns HiGHS (MIT licence), used by its C interface. Only in builds that found it.
Solver highs();

}  // namespace hios::scheduler::milp
