#pragma once

#include <cstddef>
#include <tuple>
#include <vector>

#include "hios/base/ids.h"

/// The times of one iteration of a schedule, planned (simulate) or measured (the executor), in one
/// form, so that they can be compared and drawn. All times are in ms from the start of the
/// iteration. Measured times are those of the rank's clock, or of its device's; clocks of different
/// ranks start at a common barrier.
namespace hios {

/// The times of a stage.
struct StageTimes {
  double awaited_ms = 0;  ///< its device was free and began to wait for its inputs
  double ready_ms = 0;    ///< the last input from another device was there; 0: it has none
  double start_ms = 0;    ///< at least awaited_ms and ready_ms
  double end_ms = 0;      ///< all its groups have ended
  bool operator==(const StageTimes&) const = default;
  static auto fields(auto& self) {
    return std::tie(self.awaited_ms, self.ready_ms, self.start_ms, self.end_ms);
  }
};

/// The times of a transfer: one for each tensor and destination.
struct TransferTimes {
  OpId producer;      ///< producer of the tensor
  DeviceId from, to;  ///< the producer's device, and the destination
  /// Planned: the end of the producer's stage, or later where the transfer waits for a link.
  /// Measured: the time when the sender started it.
  double start_ms = 0;
  /// Planned: the start plus the transfer's time, for several edges that of the slowest (a stage
  /// waits for its own edges only). Measured: the time when the receiver noticed its arrival.
  double end_ms = 0;
  Bytes size_bytes = 0;
  bool operator==(const TransferTimes&) const = default;
  static auto fields(auto& self) {
    return std::tie(self.producer, self.from, self.to, self.start_ms, self.end_ms, self.size_bytes);
  }
};

/// The times of a load of parameters.
struct LoadTimes {
  std::size_t lane = 0, index = 0;  ///< its lane, and its index there
  double ready_ms = 0;              ///< the lane was free
  double start_ms = 0;              ///< its source held the bytes, and its device had room
  double end_ms = 0;
  Bytes size_bytes = 0;
  bool operator==(const LoadTimes&) const = default;
  static auto fields(auto& self) {
    return std::tie(self.lane, self.index, self.ready_ms, self.start_ms, self.end_ms,
                    self.size_bytes);
  }
};

/// The times of an iteration.
struct Timeline {
  double latency_ms = 0;                        ///< until the last stage has ended
  std::vector<std::vector<StageTimes>> stages;  ///< by device, by stage, as in the schedule
  std::vector<TransferTimes> transfers;         ///< by start, then producer, then destination
  std::vector<LoadTimes> loads = {};            ///< by lane, then index
  std::size_t estimated_stages = 0;  ///< planned: stages whose cost was not measured; measured: 0
  bool operator==(const Timeline&) const = default;
  static auto fields(auto& self) {
    return std::tie(self.latency_ms, self.stages, self.transfers, self.loads,
                    self.estimated_stages);
  }
};

/// Sorts transfers into the order of a Timeline.
void sort_transfers(std::vector<TransferTimes>& transfers);

}  // namespace hios
