#pragma once

#include <vector>

#include "hios/graph/graph.h"
#include "hios/schedule/assignment.h"
#include "hios/schedule/schedule.h"

namespace hios {

/// Returns the transfers of tensors between devices, by producer, then destination: one for each
/// other device with a consumer. Operators that are not assigned are ignored. Linear in edges,
/// except for sorting each operator's consumers.
std::vector<PlannedTransfer> transfers_of(const Graph& graph, const Assignment& assignment);

}  // namespace hios
