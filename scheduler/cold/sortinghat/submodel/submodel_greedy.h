#pragma once

#include <optional>

#include "scheduler/cold/sortinghat/submodel/submodel_problem.h"
#include "scheduler/deadline.h"

namespace hios::scheduler::sortinghat {

/// Returns an assignment to start the MILP with; nothing where none was found that keeps memory and
/// labels. Once the deadline has expired, the first one found counts, of one device if possible.
std::optional<SubmodelAssignment> greedy_assignment(const SubmodelProblem& problem,
                                                    const Deadline& deadline = {});

}  // namespace hios::scheduler::sortinghat
