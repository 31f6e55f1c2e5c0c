#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "hios/evaluate/cost_model.h"
#include "hios/graph/graph.h"

namespace hios::scheduler {

/// Devices on which operators can be placed at all, by times by device, `allowed`, `colocate` and
/// memory.
class AllowedDevices {
 public:
  AllowedDevices(const Graph& graph, const CostModel& costs);

  /// Returns the devices that can run and hold the operator, with all others of its label. Never
  /// empty: restrictions that no device meets are ignored.
  const std::vector<DeviceId>& devices(OpId op) const { return sets_[set_of_[op.index()]]; }
  /// Returns the index of the operator's device set, below sets().
  std::size_t set_of(OpId op) const { return set_of_[op.index()]; }
  std::size_t sets() const { return sets_.size(); }
  const std::vector<DeviceId>& set(std::size_t index) const { return sets_[index]; }

  /// may_share() returns true if some device can run both operators, must_share() if both are on
  /// one device in every schedule.
  bool may_share(OpId a, OpId b) const;
  bool must_share(OpId a, OpId b) const {
    return colocation_[a.index()] != kNoColocation &&
           colocation_[a.index()] == colocation_[b.index()];
  }
  /// Returns an id that is equal for operators for which must_share() is true, or nothing if there
  /// are none.
  std::optional<std::uint32_t> colocation(OpId op) const {
    if (colocation_[op.index()] == kNoColocation) return std::nullopt;
    return colocation_[op.index()];
  }
  /// Returns the least cost of the edge between two different devices that its ends can be placed
  /// on. REQUIRES: !must_share(its ends).
  double transfer_ms(EdgeId edge);

 private:
  static constexpr std::uint32_t kNoColocation = ~std::uint32_t{0};

  void number_colocations();

  const Graph* graph_;
  const CostModel* costs_;
  std::vector<std::vector<DeviceId>> sets_;
  std::vector<std::vector<DeviceId>> members_;  // by set: two devices of each class of transfers
  std::vector<std::size_t> set_of_;             // by OpId
  std::vector<bool> share_;                     // set × set; empty if there are too many
  std::vector<std::uint32_t> colocation_;       // by OpId: id of its only device or its label
  double cheapest_ms(EdgeId edge) const;

  std::map<std::tuple<std::size_t, std::size_t, Bytes>, double> cheapest_;  // by sets and bytes
};

}  // namespace hios::scheduler
