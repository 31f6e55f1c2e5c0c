#pragma once

#include <vector>

#include "scheduler/milp/formulation.h"
#include "scheduler/milp/solver.h"

namespace hios::scheduler::milp {

/// Adds rows that every schedule satisfies and `values` (by column) violate: operators on one
/// device between two moments run one after the other (cuts.cpp). Adds the most violated row for
/// each device and moment. Returns true if it added any.
bool add_cuts(Formulation& formulation, const std::vector<double>& values);

/// Solves the relaxation and adds violated rows in rounds, until there are none or a limit is
/// reached. Returns the largest bound that the solver proved, in ms; 0 if none.
double tighten(Formulation& formulation, const Solver& solver, const Limits& limits);

}  // namespace hios::scheduler::milp
