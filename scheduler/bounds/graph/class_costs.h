#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "scheduler/bounds/bound_context.h"
#include "scheduler/bounds/graph/bound_graph.h"

namespace hios::scheduler {

/// An edge of the graph with its costs between classes of devices.
struct ClassEdge {
  std::uint32_t from = 0, to = 0;
  bool must_share = false;  ///< both ends are on one device
  double least_ms = 0;      ///< its least cost between any two devices of different classes
  std::size_t table = 0;    ///< index into ClassCosts::transfers, or kSame
  /// The cost is least_ms between all classes.
  static constexpr std::size_t kSame = static_cast<std::size_t>(-1);
};

/// Costs by class of devices. Devices of a class have equal shares of every operator, can run the
/// same operators and have equal memory. Operators are numbered as in the graph.
struct ClassCosts {
  std::size_t operators = 0;
  std::vector<std::vector<DeviceId>> devices;  ///< by class
  std::vector<double> count;                   ///< devices, by class
  std::vector<double> capacity;  ///< bytes of one device, by class; infinity: no limit
  /// Shares by operator × class; infinity: cannot run there.
  std::vector<double> path_ms, work_ms, window_ms;
  std::vector<double> bytes;                   ///< held by an operator
  std::vector<ClassEdge> edges;                ///< sorted by `to`
  std::vector<std::vector<double>> transfers;  ///< class × class, sender first

  std::size_t classes() const { return count.size(); }
  std::size_t cell(std::size_t v, std::size_t k) const { return v * count.size() + k; }
  bool runs(std::size_t v, std::size_t k) const;
  /// Returns the least cost of the edge between devices of these two classes: 0 for one class,
  /// whose device may be the same.
  double transfer_ms(const ClassEdge& edge, std::size_t from, std::size_t to) const {
    if (from == to) return 0;
    if (edge.table == ClassEdge::kSame) return edge.least_ms;
    return transfers[edge.table][from * count.size() + to];
  }
};

/// Returns the work, in cells visited, that multipliers of these costs may cost (AssignmentDual).
double work_for(const ClassCosts& costs);
/// Returns a small part of it, which says about where operators go, and proves less.
double quick_work_for(const ClassCosts& costs);

/// Returns all operators on their slowest devices and their least transfers, one after the other. A
/// bound well above that says rather that no schedule exists.
double serial_ms(const ClassCosts& costs);

/// The most classes that class_costs() tells apart.
inline constexpr std::size_t kMostClasses = 32;

/// Returns the costs of a whole graph, or nothing where all devices are of one class, or where
/// there are too many classes or operators.
std::optional<ClassCosts> class_costs(const BoundGraph& graph, const BoundContext& context);

}  // namespace hios::scheduler
