#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "hios/evaluate/cost_model.h"
#include "hios/evaluate/timeline.h"
#include "hios/graph/graph.h"
#include "hios/graph/parameters.h"
#include "hios/schedule/assignment.h"
#include "hios/schedule/schedule.h"

namespace hios {

/// A tensor that arrives at a stage from another device.
struct LatestInput {
  OpId producer;
  DeviceId from;
  double ms = 0;  ///< from then on the stage could start, as far as this tensor is concerned
};

/// A load that brings parameters of a stage.
struct LatestLoad {
  std::size_t load = 0;  ///< index of Timeline::loads
  OpId of;               ///< an operator that the parameters belong to
  std::size_t lane = 0;
  double ms = 0;  ///< from then on the stage could start, as far as this load is concerned
};

/// The event before which a load could not start, the latest: the end of the load before it in its
/// lane, of the one that brought the parameters to its source, or of a stage of its destination
/// that evicts others. At most one of the two is set.
struct LoadCause {
  std::optional<std::size_t> load = {};   ///< index of Timeline::loads
  std::optional<std::size_t> stage = {};  ///< of the load's destination
};

/// Finds the tensors and loads that the stages of a timeline wait for. Refers to its arguments,
/// which outlive it.
class Arrivals {
 public:
  /// `costs`: those of a planned timeline, in which a stage waits for its own edges only; null: the
  /// timeline was measured. REQUIRES: the timeline belongs to the schedule.
  Arrivals(const Graph& graph, const Schedule& schedule, const Timeline& timeline,
           const CostModel* costs);

  /// Returns the arrival that the stage waits for longest; nothing where all its inputs are of its
  /// own device. Linear in its operators' edges.
  std::optional<LatestInput> last(DeviceId device, std::size_t stage) const;
  /// Returns the load that the stage waits for longest; nothing where its parameters are resident,
  /// it reads them in place, or has none. With Weights::load_first it waits for all loads.
  std::optional<LatestLoad> last_load(DeviceId device, std::size_t stage) const;
  /// Returns the cause of a load's start. REQUIRES: an index of Timeline::loads.
  LoadCause cause(std::size_t load) const;
  /// Returns the load with an index of Timeline::loads. REQUIRES: the schedule has weights.
  const Load& planned(std::size_t load) const;
  /// Returns the device and stage of each operator.
  const Assignment& assignment() const { return assignment_; }

 private:
  const TransferTimes* transfer(OpId producer, DeviceId to) const;
  double there(const TransferTimes& sent, EdgeId edge) const;
  void find_loads();
  std::optional<std::size_t> latest_load(DeviceId to, std::size_t set, double until_ms) const;

  const Graph& graph_;
  const Schedule& schedule_;
  const Timeline& timeline_;
  const CostModel* costs_;
  Assignment assignment_;
  std::vector<const TransferTimes*> transfers_;  // by producer, then destination
  std::optional<ParameterSets> sets_;            // where the timeline has loads
  std::vector<bool> in_place_;                   // by operator
  // Loads by destination and set, and stages with evictions by device.
  std::map<std::pair<DeviceId, std::size_t>, std::vector<std::size_t>> loads_;
  std::vector<std::vector<std::size_t>> evicting_;
};

}  // namespace hios
