#pragma once

#include <optional>

#include "scheduler/cold/sortinghat/submodel_problem.h"

namespace hios::scheduler::sortinghat {

/// Returns an assignment to start the MILP with; nothing where none was found that keeps memory and
/// labels.
std::optional<SubmodelAssignment> greedy_assignment(const SubmodelProblem& problem);

}  // namespace hios::scheduler::sortinghat
