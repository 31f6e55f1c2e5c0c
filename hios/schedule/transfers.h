#pragma once

#include <vector>

#include "hios/graph/graph.h"
#include "hios/schedule/assignment.h"
#include "hios/schedule/schedule.h"

namespace hios {

/// The tensors that go from one device to another, by producer, then destination: those that an
/// operator on another device reads. An operator that runs nowhere makes and needs nothing. Linear
/// in edges, but for sorting each operator's readers.
std::vector<PlannedTransfer> transfers_of(const Graph& graph, const Assignment& assignment);

}  // namespace hios
