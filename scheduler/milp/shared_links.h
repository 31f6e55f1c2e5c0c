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

/// The rows and columns of a formulation for transfers over links that carry one tensor at a time.
/// A tensor is sent once to each device that needs it, when its link or both its ports are free,
/// without interruption (hios/evaluate/simulate.h). The rows and their source are in
/// shared_links.cpp.
class SharedLinks {
 public:
  /// Adds columns and rows to the formulation. REQUIRES: contention is not kNone; the operators'
  /// columns exist.
  void add(Formulation& formulation, hios::Contention contention);

  /// Sets the columns' values to those of a timeline. `device` is by operator; `stands_for` maps
  /// the timeline's devices to the formulation's.
  void set(const Formulation& formulation, const Timeline& timeline,
           const std::vector<std::size_t>& stands_for, const std::vector<std::size_t>& device,
           std::vector<double>& values) const;

  /// Returns the transfers of a placement, sorted by the times in `values`.
  std::vector<PlannedTransfer> order(const Formulation& formulation,
                                     const std::vector<std::size_t>& device,
                                     const std::vector<double>& values) const;

 private:
  struct Task {
    std::size_t from, to;           // producer, and destination device
    std::vector<std::size_t> arcs;  // arcs that it may serve there
    std::uint32_t travels, start;   // columns: 1 if it is sent; its start
  };
  struct Order {
    std::size_t first, second;  // tasks
    std::uint32_t column;       // 1 if the first ends before the second starts
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
