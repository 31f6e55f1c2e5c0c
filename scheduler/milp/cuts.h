#pragma once

#include <vector>

#include "scheduler/milp/formulation.h"
#include "scheduler/milp/solver.h"

namespace hios::scheduler::milp {

/// Adds rows that every schedule meets and `values`, by column, do not: what runs on one device
/// between two moments runs one after the other (cuts.cpp). A row for each device and moment, the
/// one that is missed most. True if there were any.
bool add_cuts(Formulation& formulation, const std::vector<double>& values);

/// Rounds of the relaxation and the rows that it misses, until there are none or `limits` say stop.
/// Returns the largest bound that the solver proved of it, in ms; 0 where none.
double tighten(Formulation& formulation, const Solver& solver, const Limits& limits);

}  // namespace hios::scheduler::milp
