#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "hios/evaluate/cold/flows.h"

namespace hios {

/// The pace of a device on whose cores loads run, too (Route::slowdown and load_slowdown), for
/// simulate_flows(). Sets the limits of its flows. One thread at a time.
class DevicePace {
 public:
  /// `flows` outlives this.
  explicit DevicePace(Flows& flows) : flows_(&flows) {}

  /// Returns how many times as long operators take now: each load adds its slowdown beyond 1.
  double factor() const { return factor_; }

  /// A load over the route, which outlives it, has started or ended.
  void load_started(Flows::FlowId load, const Route& route);
  void load_ended(Flows::FlowId load);
  /// A stage begins, or the one that was running has ended.
  void computes(bool yes);
  /// The stage that runs is a read in place, a flow with this limit, if nothing slows it.
  void reads(Flows::FlowId read, double gb_per_s);

 private:
  void limit(const std::pair<Flows::FlowId, const Route*>& load) const;
  void changed();

  Flows* flows_;
  std::vector<std::pair<Flows::FlowId, const Route*>> loads_;
  std::optional<std::pair<Flows::FlowId, double>> read_;
  bool computes_ = false;
  double factor_ = 1;       // of operators
  double load_factor_ = 1;  // the divisor of each load's limit while the device computes
};

}  // namespace hios
