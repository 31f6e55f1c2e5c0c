#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hios/evaluate/cost_model.h"
#include "hios/graph/graph.h"
#include "hios/graph/parameters.h"

namespace hios::scheduler::sortinghat {

/// Deviations from the platform in the constants that the MILP is given. simulate() knows none.
struct PathRules {
  bool own_bus = false;           ///< Fig. 13: each device loads over a bus of its own
  bool mean_speeds = false;       ///< Fig. 13: all devices and routes have the mean of their speeds
  bool paper_contention = false;  ///< section 3.4: reads in place and copies take longer
};

/// The times of operators, loads and copies alone on a platform, as the MILP sees them. Infinity
/// where something is not possible. Refers to graph and costs, which outlive it.
class Paths {
 public:
  /// REQUIRES: a topology.
  Paths(const Graph& graph, const CostModel& costs, const PathRules& rules);

  /// Returns the store from which a device loads and reads: that whose route takes the least time
  /// for all parameters. Nothing where no route leads from a store to the device.
  std::optional<StoreId> store(std::size_t device) const { return stores_[device]; }
  /// Returns by device the number of the bus over which it loads. Devices have the same one if two
  /// loads at a time, one for each, would slow each other.
  const std::vector<std::size_t>& bus_of() const { return bus_of_; }
  std::size_t buses() const { return buses_; }

  /// Return times by device. Those of an operator are infinity where some operator of its label
  /// cannot run.
  std::vector<double> loaded_ms(OpId op) const;
  std::vector<double> in_place_ms(OpId op) const;
  std::vector<double> load_ms(Bytes bytes) const;
  /// Return times by pair of devices (from × devices + to), of parameters, and of the tensor of one
  /// of these edges, which leave one operator.
  std::vector<double> copy_ms(Bytes bytes) const;
  std::vector<double> copy_ms(const std::vector<EdgeId>& edges) const;

 private:
  void find_stores();
  void find_labels();
  void find_buses();
  bool can_run(OpId op, std::size_t device) const;
  bool slow_each_other(std::size_t a, std::size_t b) const;
  std::size_t sharing_bus(std::size_t device) const;
  bool is_direct(std::size_t from, std::size_t to) const;
  std::vector<double> of_devices(std::vector<double> ms) const;
  std::vector<double> of_pairs(std::vector<double> ms) const;

  const Graph& graph_;
  const CostModel& costs_;
  const Topology& topology_;
  PathRules rules_;
  std::vector<std::optional<StoreId>> stores_;     // by device
  std::map<std::string, std::vector<bool>> able_;  // by label, then device
  std::vector<std::size_t> bus_of_;                // by device
  std::size_t buses_ = 0;
};

}  // namespace hios::scheduler::sortinghat
