#pragma once

#include <cstdint>
#include <vector>

#include "hios/evaluate/cost_model.h"
#include "hios/graph/graph.h"
#include "scheduler/bounds/graph/allowed_devices.h"
#include "scheduler/bounds/graph/shares.h"
#include "scheduler/structures/flat_graph.h"

namespace hios::scheduler {

/// An edge, stored at one of its ends.
struct Arc {
  std::uint32_t other = 0;
  bool may_share = true;  ///< some device can run both ends
  /// minimum over two different devices; infinity if both ends must share one
  double transfer_ms = 0;
};

/// A graph or subgraph for bounds: operators 0, 1, … in topological order.
struct BoundGraph {
  std::vector<OpId> ops;                  ///< by number
  std::vector<double> path_ms;            ///< minimum of the path share over its allowed devices
  std::vector<double> window_ms;          ///< minimum of the window share over them
  std::vector<std::uint32_t> colocation;  ///< equal for operators that must share a device
  /// device_speeds() of all devices that can run at least one operator
  std::vector<double> speeds;
  FlatGraph<Arc> edges;
  const AllowedDevices* allowed = nullptr;

  std::size_t size() const { return ops.size(); }
};

/// Returns the speeds of devices for some operators, the fastest first. In 1 ms a device processes
/// at most its speed of window_ms; the speed is 1 if the device is the fastest for any of them.
/// Only devices that can run at least one operator count. `window_ms` is the least share by index
/// in `ops`.
std::vector<double> device_speeds(const std::vector<OpId>& ops,
                                  const std::vector<double>& window_ms, const Shares& shares,
                                  const AllowedDevices& allowed);

/// Builds BoundGraphs of a graph and its subgraphs. The arguments must outlive it and them.
class BoundGraphs {
 public:
  BoundGraphs(const Graph& graph, const Shares& shares, AllowedDevices& allowed);
  /// Returns the subgraph of these operators, given in topological order, with the edges among
  /// them. Linear in both.
  BoundGraph subgraph(std::vector<OpId> operators);
  BoundGraph whole();

 private:
  const Graph* graph_;
  const Shares* shares_;
  AllowedDevices* allowed_;
  std::vector<std::uint32_t> number_;  // by OpId: number in the current subgraph
};

/// Returns the graph with time reversed: the last operator is number 0. A schedule run backwards is
/// a schedule of the reversed graph, with heads and tails exchanged.
BoundGraph reversed(const BoundGraph& graph);

}  // namespace hios::scheduler
