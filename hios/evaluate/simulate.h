#pragma once

#include <vector>

#include "hios/evaluate/cost_model.h"
#include "hios/schedule/schedule.h"

namespace hios {

struct StageTimes {
  double start_ms = 0;
  double end_ms = 0;
  double ready_ms =
      0;  ///< when the last input was there; start − max(ready, end of the stage before) = 0
};

/// One tensor on its way from one device to another (once a tensor and destination, for as long as
/// the slowest of the edges that it serves; a stage waits for its own edges only).
struct TransferTimes {
  OpId producer;
  DeviceId from, to;
  double start_ms = 0;
  double end_ms = 0;
  Bytes size_bytes = 0;
};

struct Timeline {
  double latency_ms = 0;
  std::vector<std::vector<StageTimes>> stages;  ///< by device, by stage
  std::vector<TransferTimes> transfers;         ///< by start, then producer, then destination
  std::size_t estimated_stages = 0;             ///< stages whose cost was not measured
};

/// The timeline by the paper's precedence constraint (section III-B): a stage starts when its
/// device has ended the stage before and every input is there (a producer on another device: its
/// stage's end plus the transfer); it ends its cost later. Linear in operators and edges.
/// REQUIRES: validate() finds nothing (throws std::logic_error on a cyclic wait).
Timeline simulate(const Graph& graph, const Schedule& schedule, const CostModel& costs);

}  // namespace hios
