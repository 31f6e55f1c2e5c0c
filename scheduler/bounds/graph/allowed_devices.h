#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "hios/evaluate/cost_model.h"
#include "hios/graph/graph.h"

namespace hios::scheduler {

/// What is known of where operators can be placed: times by device, `allowed`, `colocate` and what
/// a device's memory can hold of them at all.
class Places {
 public:
  Places(const Graph& graph, const CostModel& costs);

  /// Devices that can run the operator; for one with a label, all operators of the label, and hold
  /// them. Never empty: restrictions that nothing can meet are left out.
  const std::vector<DeviceId>& devices(OpId op) const { return sets_[set_of_[op.index()]]; }
  /// Equal for operators of equal devices; below sets().
  std::size_t set_of(OpId op) const { return set_of_[op.index()]; }
  std::size_t sets() const { return sets_.size(); }
  const std::vector<DeviceId>& set(std::size_t index) const { return sets_[index]; }

  /// Whether some, or only one device can be the place of both.
  bool may_share(OpId a, OpId b) const;
  bool must_share(OpId a, OpId b) const {
    return home_[a.index()] != kNoHome && home_[a.index()] == home_[b.index()];
  }
  /// Equal for operators of which must_share() holds, where there are any.
  std::optional<std::uint32_t> home(OpId op) const {
    if (home_[op.index()] == kNoHome) return std::nullopt;
    return home_[op.index()];
  }
  /// The least that the edge can cost between two different devices that its ends can be placed on.
  /// REQUIRES: !must_share(its ends).
  double transfer_ms(EdgeId edge);

 private:
  static constexpr std::uint32_t kNoHome = ~std::uint32_t{0};

  void find_homes();

  const Graph* graph_;
  const CostModel* costs_;
  std::vector<std::vector<DeviceId>> sets_;
  std::vector<std::size_t> set_of_;  // by OpId
  std::vector<bool> share_;          // set × set; empty where there are too many
  std::vector<std::uint32_t> home_;  // by OpId: the device or label that it shares for certain
  double cheapest_ms(EdgeId edge) const;

  std::map<std::tuple<std::size_t, std::size_t, Bytes>, double> cheapest_;  // by sets and bytes
};

}  // namespace hios::scheduler
