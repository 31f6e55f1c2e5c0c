#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "scheduler/bounds/bound_table.h"

namespace hios::scheduler {

/// The devices that operators can still be placed on, once it is supposed that a schedule takes at
/// most some latency: a slow device leaves an operator with little slack too late. (Where there are
/// more than 64 devices, all of them stay.)
class Candidates {
 public:
  /// At first all that places allow. Both outlive this.
  Candidates(const BoundGraph& graph, const BoundContext& context);

  /// Takes out the devices on which head, share and tail together exceed the latency; the graph's
  /// shares become the least over those left. True if one of those has risen.
  bool narrow(BoundGraph& graph, const Windows& windows, double latency_ms);
  /// These share a device.
  void unite(std::span<const std::uint32_t> operators);

  /// Whether some operator has no device left.
  bool any_without() const;
  /// Whether some device is left for both.
  bool may_share(std::size_t a, std::size_t b) const { return (left_[a] & left_[b]) != 0; }
  /// What the operators that can only come to some of the devices take there, at least.
  double confined_ms(const BoundGraph& graph, const Windows& windows) const;

 private:
  using Set = std::uint64_t;  // bit d: device d

  static constexpr std::size_t kMostDevices = 64;

  std::vector<double> speeds(const std::vector<std::uint32_t>& operators,
                             const BoundGraph& graph) const;

  const Shares& shares_;
  std::size_t devices_;
  std::vector<Set> left_;  // by operator
};

}  // namespace hios::scheduler
