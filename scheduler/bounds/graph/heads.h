#pragma once

#include <cstddef>
#include <vector>

#include "scheduler/bounds/graph/bound_graph.h"
#include "scheduler/deadline.h"

namespace hios::scheduler {

/// The resource limits that heads consider in addition to paths.
enum class Contention {
  kOneDevice,   ///< operators that share a device with it run one after the other
  kAllDevices,  ///< also: all ancestors together fill all devices
};

/// Returns, by operator of the graph, the earliest time at which it can start in any schedule
/// (proof in heads.cpp). At most `ancestors` ancestors of an operator are considered, the last in
/// topological order. Operators not reached before the deadline keep 0.
std::vector<double> heads(const BoundGraph& graph, Contention contention, std::size_t ancestors,
                          const Deadline& deadline = {});

/// Time windows in which operators must run: from `head` after the start to `tail` before the end.
struct TimeWindows {
  std::vector<double> head, tail;  ///< by operator of the graph
};
TimeWindows time_windows(const BoundGraph& graph, Contention contention, std::size_t ancestors,
                         const Deadline& deadline = {});

/// Returns how many ancestors to consider in a graph of this size: all in small graphs, few in
/// large ones, so that the time is about linear.
std::size_t ancestor_limit(std::size_t operators, std::size_t edges);

}  // namespace hios::scheduler
