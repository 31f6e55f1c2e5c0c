#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "hios/base/ids.h"
#include "hios/schedule/schedule.h"

namespace hios {

/// The device, stage and group in which a schedule runs an operator.
struct AssignedTo {
  DeviceId device;
  std::size_t stage = 0;     ///< index among the device's stages
  std::size_t group = 0;     ///< index in the stage, and of the stream
  std::size_t position = 0;  ///< index in the group
  bool operator==(const AssignedTo&) const = default;
};

/// The inverse of a schedule, by operator, made once in linear time. Immutable; any thread may read
/// it. Does not refer to the schedule.
class Assignment {
 public:
  Assignment() = default;
  /// REQUIRES: the schedule names no operator beyond `operators`, the graph's number of them. It
  /// may lack some, or name some twice: then the first counts, by device, stage and group.
  Assignment(std::size_t operators, const Schedule& schedule);

  /// Returns nothing where the schedule does not run the operator.
  const std::optional<AssignedTo>& find(OpId op) const { return by_operator_[op.index()]; }
  /// REQUIRES: the schedule runs it.
  const AssignedTo& operator[](OpId op) const { return *by_operator_[op.index()]; }
  /// Returns true if the schedule runs every operator exactly once.
  bool is_complete() const { return complete_; }

  /// Stages are numbered through all devices: those of device 0 in order, then those of device 1, …
  std::size_t stage_count() const { return first_stage_.empty() ? 0 : first_stage_.back(); }
  std::size_t stage_number(DeviceId device, std::size_t stage) const {
    return first_stage_[device.index()] + stage;
  }
  /// Returns the number of the operator's stage. REQUIRES: the schedule runs it.
  std::size_t stage_number(OpId op) const { return stage_number_[op.index()]; }

 private:
  std::vector<std::optional<AssignedTo>> by_operator_;
  std::vector<std::uint32_t> stage_number_;  // by operator; simulations read it most
  std::vector<std::size_t> first_stage_;     // by device, and one more for the end
  bool complete_ = true;
};

}  // namespace hios
