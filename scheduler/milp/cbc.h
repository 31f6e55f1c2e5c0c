#pragma once

#include "scheduler/milp/solver.h"

namespace hios::scheduler::milp {

/// Returns COIN-OR's Cbc (Eclipse Public License), used by its C interface. Only in builds that
/// found it. It cannot be interrupted, only be given seconds (Deadline::seconds_left) and nodes. So
/// it is run again from scratch with doubled node limits, and the deadline is checked between runs:
/// it may end as late again as it has run.
Solver cbc();

}  // namespace hios::scheduler::milp
