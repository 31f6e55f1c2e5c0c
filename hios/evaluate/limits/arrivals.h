#pragma once

#include <optional>
#include <vector>

#include "hios/evaluate/cost_model.h"
#include "hios/evaluate/timeline.h"
#include "hios/graph/graph.h"
#include "hios/schedule/assignment.h"
#include "hios/schedule/schedule.h"

namespace hios {

/// A tensor that arrives at a stage from another device.
struct LatestInput {
  OpId producer;
  DeviceId from;
  double ms = 0;  ///< from then on the stage could start, as far as this tensor is concerned
};

/// Finds the tensors that the stages of a timeline wait for. Refers to its arguments, which outlive
/// it.
class Arrivals {
 public:
  /// `costs`: those of a planned timeline, in which a stage waits for its own edges only; null: the
  /// timeline was measured. REQUIRES: the timeline belongs to the schedule.
  Arrivals(const Graph& graph, const Schedule& schedule, const Timeline& timeline,
           const CostModel* costs);

  /// Returns the arrival that the stage waits for longest; nothing where all its inputs are of its
  /// own device. Linear in its operators' edges.
  std::optional<LatestInput> last(DeviceId device, std::size_t stage) const;
  /// Returns the device and stage of each operator.
  const Assignment& assignment() const { return assignment_; }

 private:
  const TransferTimes* transfer(OpId producer, DeviceId to) const;

  const Graph& graph_;
  const Schedule& schedule_;
  const CostModel* costs_;
  Assignment assignment_;
  std::vector<const TransferTimes*> transfers_;  // by producer, then destination
};

}  // namespace hios
