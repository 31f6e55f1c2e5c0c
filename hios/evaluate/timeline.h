#pragma once

#include <cstddef>
#include <tuple>
#include <vector>

#include "hios/base/ids.h"

/// What happens when in one iteration of a schedule, planned (simulate) or measured (the executor):
/// one shape for both, so that they can be compared and drawn alike. All times are in ms from the
/// start of the iteration. Measured times are those of the clock of what ran the stage: the rank's
/// own, or that of its device; clocks of different ranks started at a common barrier.
namespace hios {

/// One stage of a device.
struct StageTimes {
  double awaited_ms = 0;  ///< its device was free for it and began to wait for its inputs
  double ready_ms = 0;    ///< the last input from another device was there; 0: it has none
  double start_ms = 0;    ///< at least awaited_ms and ready_ms
  double end_ms = 0;      ///< all its groups have ended
  bool operator==(const StageTimes&) const = default;
  static auto fields(auto& self) {
    return std::tie(self.awaited_ms, self.ready_ms, self.start_ms, self.end_ms);
  }
};

/// One tensor on its way from one device to another: once a tensor and destination.
struct TransferTimes {
  OpId producer;      ///< the operator whose output it is
  DeviceId from, to;  ///< its device, and the one that needs the tensor
  /// Planned: the end of the producer's stage, or later where it waits for a link. Measured: when
  /// the sender gave it away.
  double start_ms = 0;
  /// Planned: start and the transfer's time, that of the slowest edge where it serves several (a
  /// stage waits for its own edges only). Measured: when the receiver saw that it was there.
  double end_ms = 0;
  Bytes size_bytes = 0;
  bool operator==(const TransferTimes&) const = default;
  static auto fields(auto& self) {
    return std::tie(self.producer, self.from, self.to, self.start_ms, self.end_ms, self.size_bytes);
  }
};

/// One iteration as a whole.
struct Timeline {
  double latency_ms = 0;                        ///< until the last stage has ended
  std::vector<std::vector<StageTimes>> stages;  ///< by device, by stage, as in the schedule
  std::vector<TransferTimes> transfers;         ///< by start, then producer, then destination
  std::size_t estimated_stages = 0;  ///< planned: stages whose cost was not measured; measured: 0
  bool operator==(const Timeline&) const = default;
  static auto fields(auto& self) {
    return std::tie(self.latency_ms, self.stages, self.transfers, self.estimated_stages);
  }
};

/// Puts transfers in the order of a Timeline.
void sort_transfers(std::vector<TransferTimes>& transfers);

}  // namespace hios
