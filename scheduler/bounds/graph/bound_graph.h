#pragma once

#include <cstdint>
#include <vector>

#include "hios/evaluate/cost_model.h"
#include "hios/graph/graph.h"
#include "scheduler/bounds/graph/allowed_devices.h"
#include "scheduler/bounds/graph/shares.h"
#include "scheduler/structures/flat_graph.h"

namespace hios::scheduler {

/// An edge as the other end sees it.
struct Arc {
  std::uint32_t other = 0;
  bool may_share = true;   ///< some device can be the place of both ends
  double transfer_ms = 0;  ///< the least between two devices; infinity where both always share one
};

/// What bounds ask of a graph, or of a part of it: operators 0, 1, … in topological order.
struct BoundGraph {
  std::vector<OpId> ops;            ///< by number
  std::vector<double> path_ms;      ///< the least share over all devices that it can be placed on
  std::vector<double> window_ms;    ///< likewise
  std::vector<std::uint32_t> home;  ///< operators of equal home share a device for certain
  std::vector<double> speeds;       ///< device_speeds() of all that can run at least one of them
  FlatGraph<Arc> edges;
  const Places* places = nullptr;

  std::size_t size() const { return ops.size(); }
};

/// How fast devices are with some operators, the fastest first: what a device does of window_ms in
/// 1 ms is at most its speed, 1 for a device that is the fastest with any of them. Of the devices
/// given that can be the place of at least one. `window_ms`: by place in `ops`, the least share.
std::vector<double> device_speeds(const std::vector<OpId>& ops,
                                  const std::vector<double>& window_ms, const Shares& shares,
                                  const Places& places);

/// Makes such graphs of a graph and its parts; what it refers to must outlive it and them.
class GraphParts {
 public:
  GraphParts(const Graph& graph, const Shares& shares, Places& places);
  /// These operators, in topological order, and the edges among them. Linear in both.
  BoundGraph part(std::vector<OpId> operators);
  BoundGraph whole();

 private:
  const Graph* graph_;
  const Shares* shares_;
  Places* places_;
  std::vector<std::uint32_t> number_;  // by OpId: in the part at work
};

/// The same graph with time reversed: the last operator is number 0. A schedule run backwards
/// is a schedule of the reversed graph, with heads and tails exchanged.
BoundGraph reversed(const BoundGraph& graph);

}  // namespace hios::scheduler
