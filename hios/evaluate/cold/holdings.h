#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hios/graph/parameters.h"
#include "hios/schedule/assignment.h"
#include "hios/schedule/schedule.h"

namespace hios {

/// The parameters that a device holds at some time, as a schedule's weights list them.
struct Holding {
  bool resident = false;
  std::optional<std::size_t> load;      ///< the first load to the device: a number of Holdings
  std::optional<std::size_t> eviction;  ///< the first eviction that takes effect there: its index
  std::size_t last_stage = 0;           ///< with an eviction: the stage after which it does so
  std::vector<OpId> readers;            ///< operators there that read them, but not in place
  bool passed_on = false;               ///< a load takes them from there
  bool exists() const { return resident || load; }
};

/// A schedule's weights by device and set of parameters, for validate(). Loads are numbered through
/// all lanes. Ignores entries that name a device beyond the platform, or operators without
/// parameters; validate_weights() reports them. Refers to its arguments, which outlive it.
class Holdings {
 public:
  struct Listed {
    std::size_t lane = 0, index = 0;
    const Load* load = nullptr;
  };

  /// REQUIRES: a schedule with weights, for this many devices.
  Holdings(const ParameterSets& sets, const Schedule& schedule, const Assignment& assignment);

  const std::vector<Listed>& loads() const { return loads_; }
  /// Returns the numbers of the loads from a device.
  const std::vector<std::size_t>& loads_from(DeviceId device) const {
    return loads_from_[device.index()];
  }
  /// Returns null where the device never holds the set and no operator there needs it.
  const Holding* find(DeviceId device, std::size_t set) const;
  const Holding* find(DeviceId device, OpId op) const;
  /// Returns what a device holds, by set. Ordered, so that findings are.
  const std::map<std::size_t, Holding>& on(DeviceId device) const { return on_[device.index()]; }
  /// Returns the index of the operator's first entry in Weights::in_place.
  std::optional<std::size_t> read_in_place(OpId op) const;
  const ParameterSets& sets() const { return sets_; }

 private:
  Holding* known(DeviceId device, OpId op);

  const ParameterSets& sets_;
  std::vector<Listed> loads_;
  std::vector<std::vector<std::size_t>> loads_from_;  // by device
  std::vector<std::map<std::size_t, Holding>> on_;    // by device
  std::map<OpId, std::size_t> in_place_;
};

}  // namespace hios
