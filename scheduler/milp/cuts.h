#pragma once

#include <vector>

#include "scheduler/milp/formulation.h"

namespace hios::scheduler::milp {

/// Adds rows that every schedule meets and `values`, by column, do not: what runs on one device
/// between two moments runs one after the other (cuts.cpp). A row for each device and moment, the
/// one that is missed most. True if there were any.
bool add_cuts(Formulation& formulation, const std::vector<double>& values);

}  // namespace hios::scheduler::milp
