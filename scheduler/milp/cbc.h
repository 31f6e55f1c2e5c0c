#pragma once

#include "scheduler/milp/solver.h"

namespace hios::scheduler::milp {

/// COIN-OR's Cbc (Eclipse Public License), by its C interface. Only in builds that found it. It
/// cannot be asked to stop, only be given seconds (Deadline::seconds_left) and nodes: it runs for
/// more and more nodes, with the deadline asked between the runs, so it hears it as late again as
/// it has run.
Solver cbc();

}  // namespace hios::scheduler::milp
