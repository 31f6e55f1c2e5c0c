#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "hios/evaluate/cost_model.h"
#include "hios/graph/graph.h"
#include "scheduler/deadline.h"

namespace hios::scheduler {

/// Devices on which operators may still be placed, given those that are placed: honours times by
/// device, `allowed`, `colocate` and memory. Operators that share a label form a unit: the first
/// that is placed reserves memory for all, on a device that can run all.
class Placement {
 public:
  /// Both arguments outlive it. O(V) memory, and a bit per shared label and device.
  Placement(const Graph& graph, const CostModel& costs);

  bool may_go(OpId op, DeviceId device) const;
  /// Returns the length of the longest prefix of `operators` that the device can take together.
  std::size_t fitting(std::span<const OpId> operators, DeviceId device) const;
  /// REQUIRES: may_go().
  void place(OpId op, DeviceId device);

  /// Sets of two or more operators that share a label, sorted by label, each in the graph's order.
  std::span<const std::vector<OpId>> units() const { return units_; }
  /// Returns the operator's index in units(), or nothing if it shares no label.
  std::optional<std::size_t> unit(OpId op) const;
  /// Returns true if an operator of its label is placed, so that it needs no more memory.
  bool is_reserved(OpId op) const;
  bool limited() const { return !room_.empty(); }  ///< true if some device has a memory limit
  /// Returns the bytes of outputs and parameters of an operator and all others of its unit.
  Bytes bytes(OpId op) const;
  static constexpr Bytes kNoLimit = std::numeric_limits<Bytes>::max();
  /// Returns the free memory of a device, or kNoLimit if it has no limit. REQUIRES: limited().
  Bytes room(DeviceId device) const { return room_[device.index()]; }
  /// Returns true if the device can run the operator and all others of its unit.
  bool able(OpId op, DeviceId device) const;

 private:
  static constexpr std::uint32_t kAlone = std::numeric_limits<std::uint32_t>::max();

  void form_units();

  const Graph* graph_;
  const CostModel* costs_;
  std::vector<std::vector<OpId>> units_;
  std::vector<std::uint32_t> unit_of_;              // by operator; empty without units
  std::vector<Bytes> unit_bytes_;                   // by unit
  std::vector<bool> unit_able_;                     // unit × device
  std::vector<std::optional<DeviceId>> unit_goes_;  // device by unit, once placed
  std::vector<Bytes> room_;                         // by device; empty without limits
};

/// Returns the bytes of outputs and parameters of an operator, or the largest number if the sum
/// exceeds it.
Bytes held_bytes(const Operator& op);

/// Returns a device for every operator, for the case that greedy choices leave no memory for the
/// last ones. Operators with the fewest possible devices come first, then the largest ones. The
/// first attempt balances work: each operator goes to the device with the least work among those
/// with enough memory. If an operator is left over, two attempts go by memory: to the device with
/// the least free memory that suffices, and to the one with the most. Then these rules are tried in
/// some hundred other orders, and at last pack_exactly().
///
/// Throws InputError with algorithm and operator, which says whether no placement exists or, if the
/// last search used up its steps, none was found. Once the deadline expires, only the first three
/// attempts are made.
std::vector<std::optional<DeviceId>> pack_operators(const Graph& graph, const CostModel& costs,
                                                    std::string_view algorithm,
                                                    const Deadline& deadline = {});

/// Returns true if the total memory of these devices is at least the bytes that all operators hold.
/// If false, no placement on these devices alone exists.
bool may_hold(const Graph& graph, const Platform& platform, std::span<const DeviceId> devices);

}  // namespace hios::scheduler
