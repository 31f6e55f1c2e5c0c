#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "scheduler/bounds/bound_context.h"
#include "scheduler/bounds/graph/bound_graph.h"
#include "scheduler/bounds/graph/heads.h"

namespace hios::scheduler {

/// Connected components of operators: a union-find forest.
class ConnectedComponents {
 public:
  explicit ConnectedComponents(std::size_t size);
  std::size_t root(std::size_t v);
  void connect(std::size_t a, std::size_t b) { parent_[root(a)] = root(b); }
  /// Returns the operators of every component.
  std::vector<std::vector<std::uint32_t>> members();

 private:
  std::vector<std::size_t> parent_;
};

/// A bound for operators that share a device.
class OneDevice {
 public:
  OneDevice(const BoundGraph& graph, const BoundContext& context);

  /// Returns a lower bound on the latency if these operators all share a device, or infinity if no
  /// device can run and hold them. `windows` are those of the graph.
  double shared_ms(std::span<const std::uint32_t> operators, const TimeWindows& windows) const;

 private:
  bool has_a_device(std::span<const std::uint32_t> operators) const;

  const BoundGraph& graph_;
  const BoundContext& context_;
  bool any_device_;  // any device can run and hold all of them
};

}  // namespace hios::scheduler
