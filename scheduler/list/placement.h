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

/// Which devices operators may still go to, by where others went: times by device, `allowed`,
/// `colocate` and memory. Operators that share a label are one unit: the first of them that is
/// placed reserves the memory of all, on a device that can run all.
class Placement {
 public:
  /// Both outlive it. O(V), and a bit for each shared label and device.
  Placement(const Graph& graph, const CostModel& costs);

  bool may_go(OpId op, DeviceId device) const;
  /// How many of the operators, from the first on, the device can take together.
  std::size_t fitting(std::span<const OpId> operators, DeviceId device) const;
  /// REQUIRES: may_go().
  void place(OpId op, DeviceId device);

  /// Operators that share a label, more than one; by label, each in the graph's order.
  std::span<const std::vector<OpId>> units() const { return units_; }
  /// The operator's in units(), or nothing.
  std::optional<std::size_t> unit(OpId op) const;
  bool limited() const { return !room_.empty(); }  ///< some device has a memory limit
  /// Outputs and parameters of an operator and of all that must come with it.
  Bytes bytes(OpId op) const;
  static constexpr Bytes kNoLimit = std::numeric_limits<Bytes>::max();
  /// kNoLimit where the device has none. REQUIRES: limited().
  Bytes room(DeviceId device) const { return room_[device.index()]; }
  /// Whether it can run the operator and all that must come with it.
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
  std::vector<std::optional<DeviceId>> unit_goes_;  // by unit, where placed
  std::vector<Bytes> room_;                         // by device; empty without limits
};

/// Outputs and parameters of an operator; the largest number where they are more than that.
Bytes held_bytes(const Operator& op);

/// A device for every operator, for when a choice made on the way leaves no room at the end. Those
/// with the fewest devices to choose from come first, then the largest. First with an eye on the
/// work (the device with the least of it among those with room); where that leaves an operator
/// over, on memory (the device with the least room that will do, or the most room); then these in
/// some hundred other orders; at last pack_exactly(). Throws InputError that names algorithm and
/// operator, and says whether there is none or, where the steps of the last were used up, none was
/// found. Once the deadline expires, only the first three are tried.
std::vector<std::optional<DeviceId>> pack_operators(const Graph& graph, const CostModel& costs,
                                                    std::string_view algorithm,
                                                    const Deadline& deadline = {});

/// Whether these devices' memories together are as large as what all operators hold: if not, there
/// is no placement on them alone.
bool may_hold(const Graph& graph, const Platform& platform, std::span<const DeviceId> devices);

}  // namespace hios::scheduler
