#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "hios/base/ids.h"
#include "hios/schedule/schedule.h"

namespace hios {

/// Where a schedule runs one operator.
struct AssignedTo {
  DeviceId device;
  std::size_t stage = 0;     ///< of that device
  std::size_t group = 0;     ///< of that stage; it runs on the stream of that number
  std::size_t position = 0;  ///< in its group
  bool operator==(const AssignedTo&) const = default;
};

/// Where a schedule runs every operator: the schedule read the other way round, made once in linear
/// time. Immutable; any thread may read it. Keeps nothing of the schedule it was made from.
class Assignment {
 public:
  Assignment() = default;
  /// REQUIRES: the schedule names no operator beyond `operators`, the graph's number of them. It
  /// may lack some, or name some twice: then the first place counts, by device, stage and group.
  Assignment(std::size_t operators, const Schedule& schedule);

  /// Nothing where the schedule does not run the operator.
  const std::optional<AssignedTo>& find(OpId op) const { return by_operator_[op.index()]; }
  /// REQUIRES: the schedule runs it.
  const AssignedTo& operator[](OpId op) const { return *by_operator_[op.index()]; }
  /// Whether the schedule runs every operator, and each once.
  bool is_complete() const { return complete_; }

  /// Stages numbered through all devices: those of device 0 in order, then those of device 1, …
  std::size_t stage_count() const { return first_stage_.empty() ? 0 : first_stage_.back(); }
  std::size_t stage_number(DeviceId device, std::size_t stage) const {
    return first_stage_[device.index()] + stage;
  }
  /// Of the operator's stage. REQUIRES: the schedule runs it.
  std::size_t stage_number(OpId op) const { return stage_number_[op.index()]; }

 private:
  std::vector<std::optional<AssignedTo>> by_operator_;
  std::vector<std::uint32_t> stage_number_;  // by operator: what simulations ask most
  std::vector<std::size_t> first_stage_;     // by device, and one more for the end
  bool complete_ = true;
};

}  // namespace hios
