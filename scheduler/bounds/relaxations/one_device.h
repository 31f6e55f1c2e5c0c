#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "scheduler/bounds/bound_table.h"

namespace hios::scheduler {

/// GraphParts that edges connect: a forest in which every operator finds the root of its part.
class ConnectedParts {
 public:
  explicit ConnectedParts(std::size_t size);
  std::size_t root(std::size_t v);
  void connect(std::size_t a, std::size_t b) { above_[root(a)] = root(b); }
  /// The operators of every part, by part.
  std::vector<std::vector<std::uint32_t>> members();

 private:
  std::vector<std::size_t> above_;
};

/// What operators take that share a device.
class OneDevice {
 public:
  OneDevice(const BoundGraph& graph, const BoundContext& context);

  /// The latency at least, if these all share a device; infinity where no device can run and hold
  /// them. `windows` are those of the graph.
  double shared_ms(std::span<const std::uint32_t> operators, const Windows& windows) const;

 private:
  bool has_a_device(std::span<const std::uint32_t> operators) const;

  const BoundGraph& graph_;
  const BoundContext& context_;
  bool any_device_;  // can take any of them
};

}  // namespace hios::scheduler
