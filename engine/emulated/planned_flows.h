#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "engine/emulated/machine.h"
#include "hios/evaluate/cost_model.h"
#include "hios/schedule/schedule.h"

namespace hios::emulated {

/// The bytes per ms of 1 GB/s.
inline constexpr double kBytesPerMsOfGb = 1e6;

/// Bytes that move over buses: a load of parameters, a tensor's message, or a read in place.
struct Flow {
  std::vector<std::size_t> buses;  ///< by index of the topology
  double latency_ms = 0;           ///< in which it uses no bus
  double most_bytes_per_ms = 0;    ///< its route's own limit; 0 where it has no bytes
  Bytes size_bytes = 0;
};

/// All flows of a schedule, numbered alike on all ranks: pure data.
class PlannedFlows {
 public:
  /// REQUIRES: validate() finds nothing, and the schedule's stores are the topology's.
  PlannedFlows(const Machine& machine, const CostModel& costs, const Schedule& schedule);

  std::size_t size() const { return flows_.size(); }
  const Flow& operator[](std::size_t flow) const { return flows_[flow]; }
  std::span<const Flow> all() const { return flows_; }

  /// Returns the number of a load, counted through all lanes as in ParameterSend::number. REQUIRES:
  /// the schedule has the load.
  std::size_t load(std::size_t lane, std::size_t index) const {
    return first_of_lane_[lane] + index;
  }
  /// Returns nothing where the tensor does not travel there.
  std::optional<std::size_t> message(OpId producer, DeviceId to) const;
  /// Returns nothing where the operator reads nothing in place.
  std::optional<std::size_t> read(OpId op) const;

 private:
  void add_loads(const Machine& machine, const Weights& weights);
  void add_reads(const Machine& machine, const Schedule& schedule);
  void add_messages(const Machine& machine, const CostModel& costs, const Schedule& schedule);

  std::vector<Flow> flows_;
  std::vector<std::size_t> first_of_lane_;
  std::map<std::pair<OpId, DeviceId>, std::size_t> messages_;
  std::map<OpId, std::size_t> reads_;
};

}  // namespace hios::emulated
