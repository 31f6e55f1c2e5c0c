#pragma once

#include "scheduler/milp/solver.h"

namespace hios::scheduler::milp {

/// HiGHS (MIT licence), by its C interface. Only in builds that found it.
Solver highs();

}  // namespace hios::scheduler::milp
