#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "hios/evaluate/cost_model.h"
#include "hios/graph/parameters.h"
#include "hios/schedule/schedule.h"

namespace hios::scheduler::cold {

/// The parameters that devices hold before a cold start.
struct Held {
  std::vector<Resident> resident = {};  ///< those of the graph, each once on a device
  std::vector<Bytes> other_bytes = {};  ///< by device: others' bytes there; empty: none
};

/// The data of a search that do not change. Refers to the costs, which outlive it. Any thread may
/// read it.
class PlanProblem {
 public:
  explicit PlanProblem(const CostModel& costs, Held held = {});

  const Graph& graph() const { return *graph_; }
  const CostModel& costs() const { return *costs_; }
  const Platform& platform() const { return costs_->platform(); }
  const ParameterSets& sets() const { return sets_; }
  std::size_t devices() const { return platform().size(); }
  /// Returns the store from which a device loads and reads; nothing where no route leads there.
  std::optional<StoreId> store(DeviceId device) const { return stores_[device.index()]; }
  /// Returns the first of the devices that share a bus with this one (sharing_devices()).
  DeviceId sharing(DeviceId device) const { return DeviceId(sharing_[device.index()]); }
  /// Returns true if the operator can read its parameters in place there.
  bool can_read_in_place(OpId op, DeviceId device) const;
  /// Returns true if the device holds the set before the cold start.
  bool holds(DeviceId device, std::size_t set) const {
    return holds_[device.index() * sets_.sets().size() + set];
  }
  /// Returns the bytes of all parameters that the device holds then.
  Bytes held_bytes(DeviceId device) const { return held_bytes_[device.index()]; }
  const std::vector<Resident>& resident() const { return resident_; }
  /// Returns the devices that may pass parameters on to a device, where no cores copy them.
  const std::vector<DeviceId>& relays(DeviceId device) const { return relays_[device.index()]; }
  /// Returns the operators that must share a device with this one, itself among them.
  const std::vector<OpId>& unit(OpId op) const { return units_[unit_of_[op.index()]]; }
  /// Returns the latency of a schedule by simulate().
  double latency_ms(const Schedule& schedule) const;

 private:
  const Graph* graph_;
  const CostModel* costs_;
  ParameterSets sets_;
  std::vector<Resident> resident_;
  std::vector<bool> holds_;                     // device × set
  std::vector<Bytes> held_bytes_;               // by device
  std::vector<std::optional<StoreId>> stores_;  // by device
  std::vector<std::size_t> sharing_;            // by device
  std::vector<std::vector<DeviceId>> relays_;   // by device
  std::vector<std::vector<OpId>> units_;
  std::vector<std::size_t> unit_of_;  // by operator
};

/// A stage and its device.
struct PlacedStage {
  DeviceId device;
  Stage stage;
};

/// A cold start as the search changes it: decisions from which a valid schedule follows, if its
/// devices have routes and room. Copied at each move.
struct ColdPlan {
  /// All stages, so that each comes after those that it waits for.
  std::vector<PlacedStage> stages;
  /// By operator: reads in place if it is alone in its stage and can.
  std::vector<bool> in_place;
  /// By device and set: the device that passes the set on. It holds the set, or takes it from a
  /// store; or else the receiver does.
  std::vector<std::optional<DeviceId>> relay;
  /// By device and set: so many stages later than in the order of use; loads go in this order.
  std::vector<std::int32_t> shift;
  /// Devices whose routes from stores share a bus have their lanes together.
  bool shared_lanes = false;
  /// Lanes of each route, or of routes together, which loads take in turns.
  std::size_t lanes_of_route = 1;
};

/// Returns the plan of a schedule: its stages, its reads in place and devices that pass parameters
/// on. Loads are in the order of use, whatever theirs was; evictions and several stores for a
/// device have no part in a plan. So the plan's schedule may be longer or shorter.
ColdPlan plan_of(const PlanProblem& problem, const Schedule& schedule);

/// Returns the schedule of a plan; nothing where a route, a time or room is missing.
std::optional<Schedule> schedule_of(const PlanProblem& problem, const ColdPlan& plan);

}  // namespace hios::scheduler::cold
