#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "hios/evaluate/timeline.h"
#include "hios/platform/platform.h"
#include "hios/schedule/schedule.h"

namespace hios::scheduler::milp {

class Formulation;

/// The part of a formulation that says when tensors travel, where links carry one at a time: a
/// tensor goes once to each device that needs it, when its link or both its ports are free, whole
/// and without a break (hios/evaluate/simulate.h). Rows and their source in shared_links.cpp.
class SharedLinks {
 public:
  /// Adds columns and rows to the formulation. REQUIRES: contention is not kNone; operators'
  /// columns are there.
  void add(Formulation& formulation, hios::Contention contention);

  /// Sets the columns' values to those of a timeline. `device`: by operator; `stands_for`: by the
  /// timeline's devices, the formulation's.
  void set(const Formulation& formulation, const Timeline& timeline,
           const std::vector<std::size_t>& stands_for, const std::vector<std::size_t>& device,
           std::vector<double>& values) const;

  /// The transfers of a placement, in the order of the values' times.
  std::vector<PlannedTransfer> order(const Formulation& formulation,
                                     const std::vector<std::size_t>& device,
                                     const std::vector<double>& values) const;

 private:
  struct Task {
    std::size_t from, to;           // producer, and the device that its tensor goes to
    std::vector<std::size_t> arcs;  // that it may serve there
    std::uint32_t travels, start;   // columns: whether it is sent, and when
  };
  struct Order {
    std::size_t first, second;  // tasks
    std::uint32_t column;       // where it is 1, the first is through before the second starts
  };

  void add_task(Formulation& formulation, std::size_t producer, std::size_t device);
  void add_arrivals(Formulation& formulation, const Task& task) const;
  void add_pair(Formulation& formulation, std::size_t a, std::size_t b);
  std::uint32_t add_order(Formulation& formulation, std::size_t first, std::size_t second);
  bool sent(const Formulation& formulation, const Task& task,
            const std::vector<std::size_t>& device) const;
  bool share(const Task& a, const Task& b, const std::vector<std::size_t>& device) const;

  hios::Contention contention_ = hios::Contention::kNone;
  std::vector<Task> tasks_;
  std::vector<Order> orders_;
};

}  // namespace hios::scheduler::milp
