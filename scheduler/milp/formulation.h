#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hios/schedule/schedule.h"
#include "scheduler/milp/horizon.h"
#include "scheduler/milp/program.h"
#include "scheduler/milp/shared_links.h"

namespace hios::scheduler::milp {

/// How interchangeable devices are ordered, so that the search excludes schedules with two of them
/// exchanged (Ghannane and Abdelfattah, "DiviML: A Module-based Heuristic for Mapping Neural
/// Networks onto Heterogeneous Platforms", section VI).
enum class Symmetry {
  kNone,
  kTasks,  ///< each runs at least as many operators as the next
  kTime    ///< each works at least as long as the next
};

/// Returns the symmetry named "none", "tasks" or "time". Throws InputError for any other name.
Symmetry symmetry_named(const std::string& name);

/// Placement and order of operators as a program whose cost is the latency, one operator after the
/// other on every device (rows and their sources in formulation.cpp, conversion of schedules in
/// formulation_values.cpp). Times are scaled: kScale is the latency of the horizon, which must
/// outlive it.
class Formulation {
 public:
  static constexpr double kScale = 1000;

  /// Construction stops above this many terms: too_large().
  static constexpr std::size_t kMostTerms = 100'000;

  Formulation(const Horizon& horizon, const CostModel& costs, Symmetry symmetry);

  /// Returns true if the program is incomplete.
  bool too_large() const { return program_.terms > kMostTerms; }

  const Horizon& horizon() const { return horizon_; }
  const Program& program() const { return program_; }
  void add(Program::Row row) { program_.add(std::move(row)); }
  std::uint32_t add(const Program::Column& column) { return program_.add(column); }
  double ms(double scaled) const { return scaled * horizon_.latency_ms() / kScale; }
  double scaled(double ms) const { return ms * kScale / horizon_.latency_ms(); }

  /// Columns: the latency, an operator's start, and whether it runs on a device (if it may).
  std::uint32_t end() const { return end_; }
  std::uint32_t start(std::size_t v) const { return starts_[v]; }
  std::optional<std::uint32_t> on(std::size_t v, std::size_t d) const;
  /// Adds sign × the operator's time, by its device, to a row's sum.
  void add_duration(Program::Row& row, std::size_t v, double sign) const;

  /// Returns the values of a schedule. REQUIRES: it takes no longer than the horizon's latency, and
  /// each stage has one operator.
  std::vector<double> values(const Schedule& schedule, const CostModel& costs) const;
  /// Returns the values for the operators' devices and starts in ms, by position, and the last end.
  /// REQUIRES: Symmetry::kNone, and no contention.
  std::vector<double> values(const std::vector<std::size_t>& device,
                             const std::vector<double>& start_ms, double end_ms) const;
  /// Returns the schedule with the values' devices, in the order of the starts. If links carry one
  /// tensor at a time, it lists the order of transfers.
  Schedule schedule(const std::vector<double>& values) const;

 private:
  struct Order {  // 1 in the column: a ends before b starts
    std::size_t a, b;
    std::uint32_t column;
  };
  struct Flow {  // 1 in the column: the arc's tensor goes from one device to the other
    std::size_t arc, from, to;
    std::uint32_t column;
  };

  void add_placements();
  void add_starts();
  void add_arc(std::size_t a);
  void add_flows(std::size_t a, Program::Row& precedence);
  std::optional<double> uniform_transfer_ms(std::size_t a) const;
  void add_orders();
  void add_precedence(std::size_t a, std::size_t b, std::uint32_t column);
  void add_memory(const CostModel& costs);
  void add_symmetry(const CostModel& costs, Symmetry symmetry);
  std::size_t device(std::size_t v, const std::vector<double>& values) const;
  bool interchangeable(const CostModel& costs, std::size_t d, std::size_t e) const;
  void set_placement(const std::vector<std::size_t>& device, const std::vector<std::size_t>& turn,
                     std::vector<double>& values) const;
  std::vector<std::size_t> device_order(const std::vector<std::vector<std::size_t>>& work,
                                        const CostModel& costs) const;

  const Horizon& horizon_;
  Symmetry symmetry_;
  Program program_;
  std::uint32_t end_ = 0;
  std::vector<std::uint32_t> starts_;  // by operator
  std::vector<std::int64_t> on_;       // operator × device: a column, or -1
  std::vector<Order> orders_;
  std::vector<Flow> flows_;
  std::optional<SharedLinks> links_;               // if links carry one tensor at a time
  std::vector<std::vector<std::size_t>> classes_;  // interchangeable devices
};

}  // namespace hios::scheduler::milp
