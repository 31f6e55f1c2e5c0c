#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "scheduler/bounds/bound_context.h"
#include "scheduler/bounds/graph/bound_graph.h"
#include "scheduler/bounds/graph/heads.h"

namespace hios::scheduler {

/// The devices on which operators can still be placed if a schedule takes at most some latency: on
/// a slow device, an operator with little slack would be too late. (With more than 64 devices, none
/// is excluded.)
class CandidateDevices {
 public:
  /// Starts with all allowed devices. Both arguments outlive it.
  CandidateDevices(const BoundGraph& graph, const BoundContext& context);

  /// Excludes the devices on which head, share and tail together exceed the latency; the graph's
  /// shares become the minimum over the remaining ones. Returns true if one of them has risen.
  bool narrow(BoundGraph& graph, const TimeWindows& windows, double latency_ms);
  /// Restricts these operators to their common devices, since they share one.
  void unite(std::span<const std::uint32_t> operators);

  /// Returns true if some operator has no device left.
  bool any_without_device() const;
  /// Returns true if both have a remaining device in common.
  bool may_share(std::size_t a, std::size_t b) const {
    return (remaining_[a] & remaining_[b]) != 0;
  }
  /// Returns the largest bound of confined.h over sets of remaining devices.
  double confined_ms(const BoundGraph& graph, const TimeWindows& windows) const;

 private:
  using DeviceSet = std::uint64_t;  // bit d: device d

  static constexpr std::size_t kMostDevices = 64;

  std::vector<double> speeds(const std::vector<std::uint32_t>& operators,
                             const BoundGraph& graph) const;

  const Shares& shares_;
  std::size_t devices_;
  std::vector<DeviceSet> remaining_;  // by operator
};

}  // namespace hios::scheduler
