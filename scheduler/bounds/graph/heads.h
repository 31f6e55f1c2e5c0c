#pragma once

#include <cstddef>
#include <vector>

#include "scheduler/bounds/graph/bound_graph.h"
#include "scheduler/deadline.h"

namespace hios::scheduler {

/// What the heads take into account beside paths.
enum class Contention {
  kOneDevice,   ///< what shares a device with the operator runs one after the other
  kAllDevices,  ///< also: all ancestors together fill all devices
};

/// By operator of the graph: the earliest time at which it can begin in any schedule (proof in
/// heads.cpp). At most `ancestors` of an operator, the last in topological order, are considered.
/// Those not reached when the deadline expires keep 0.
std::vector<double> heads(const BoundGraph& graph, Contention contention, std::size_t ancestors,
                          const Deadline& deadline = {});

/// Times in which operators must run: `head` from the beginning to `tail` before the end.
struct Windows {
  std::vector<double> head, tail;  ///< by operator of the graph
};
Windows windows(const BoundGraph& graph, Contention contention, std::size_t ancestors,
                const Deadline& deadline = {});

/// How many ancestors are worth considering in a graph of this size: all in small ones, few in
/// large ones, so that the time stays about linear.
std::size_t ancestor_limit(std::size_t operators, std::size_t edges);

}  // namespace hios::scheduler
