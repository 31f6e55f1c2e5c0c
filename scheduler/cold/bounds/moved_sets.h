#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "hios/evaluate/cost_model.h"
#include "hios/graph/parameters.h"
#include "hios/schedule/weights.h"

namespace hios::scheduler {

/// Returns the time without what may be due to so many roundings of simulated times.
double without_roundings(double ms, std::size_t roundings);

/// The sets of parameters that every cold start must move into some devices, and the least time
/// that their bytes take (proof in moved_sets.cpp). Resident ones need not move.
class MovedSets {
 public:
  /// `into`: the devices that the sets of interest must reach. REQUIRES: a topology.
  MovedSets(const Graph& graph, const CostModel& costs, std::span<const Resident> resident,
            std::span<const DeviceId> into);

  const ParameterSets& sets() const { return sets_; }
  /// Returns false for residents.
  bool moves(std::size_t set) const { return moves_[set]; }
  /// Returns true if some operator can read the set in place; then it may start before its bytes
  /// have moved, but ends no earlier.
  bool in_place(std::size_t set) const { return in_place_[set]; }
  /// Returns the fewest bytes of the set that must move; 0 for a resident one.
  double least_bytes(std::size_t set) const { return least_bytes_[set]; }
  /// Returns the most bytes that move in 1 ms.
  double bytes_per_ms() const { return bytes_per_ms_; }
  /// Returns a time before which so many bytes, of any sets, have not moved. 0 for none.
  double moved_ms(double bytes) const;
  /// Returns a time before which no device holds the set; 0 for a resident one.
  double held_ms(std::size_t set) const { return held_ms_[set]; }

 private:
  double earliest_held_ms(Bytes size_bytes, const Topology& topology) const;

  ParameterSets sets_;
  std::vector<bool> moves_, in_place_;         // by set
  std::vector<double> least_bytes_, held_ms_;  // by set
  double bytes_per_ms_ = 0;
  double least_latency_ms_ = 0;
};

}  // namespace hios::scheduler
