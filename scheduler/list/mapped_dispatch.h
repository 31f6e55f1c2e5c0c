#pragma once

#include <cstdint>
#include <vector>

#include "hios/evaluate/cost_model.h"
#include "hios/graph/graph.h"
#include "hios/schedule/schedule.h"
#include "scheduler/list/mapping.h"

namespace hios::scheduler {

/// List scheduling of a mapping: whenever a device is free, it starts the operator with the longest
/// path from it (its time, transfers by the mapping and what follows) among those whose inputs have
/// arrived. Receiving takes no time here, and messages do not contend. One thread at a time may use
/// it.
class MappedDispatch {
 public:
  /// Graph and costs outlive it.
  MappedDispatch(const Graph& graph, const CostModel& costs);

  /// Returns the latency. O((V + E)·log V + V·M). REQUIRES: each operator's device can run it.
  double latency_ms(const Mapping& mapping);
  /// Returns the schedule of the last latency_ms(), one operator a stage.
  Schedule schedule() const;

 private:
  using Position = std::uint32_t;  ///< index in the order of the longest paths
  struct Arriving {
    double ms;
    Position position;
    bool operator>(const Arriving& other) const {
      return ms > other.ms || (ms == other.ms && position > other.position);
    }
  };
  struct Queues {
    double free_ms = 0;
    std::vector<Position> arrived;   ///< a heap, the longest path first
    std::vector<Arriving> arriving;  ///< a heap, the earliest first
  };

  void rank(const Mapping& mapping);
  void make_ready(OpId op, const Mapping& mapping);
  void admit(Queues& queues);
  void update_start(std::size_t device);

  const Graph* graph_;
  const CostModel* costs_;
  std::vector<double> path_ms_, finish_ms_;  // by operator
  std::vector<OpId> order_;                  // by position
  std::vector<Position> position_;           // by operator
  std::vector<std::uint32_t> waits_;         // by operator: inputs that are not placed
  std::vector<Queues> queues_;               // by device
  std::vector<double> start_ms_;             // by device: of its next operator
  std::vector<std::vector<OpId>> placed_;    // by device, in order
};

}  // namespace hios::scheduler
