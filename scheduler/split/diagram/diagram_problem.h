#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "hios/evaluate/cost_model.h"

namespace hios::scheduler::split {

/// Operators, one after the other on every device, with what is before and behind them: numbers
/// alone, for searches that ask for them often. Operators by their place in a topological order;
/// times in ms, operator × device, infinity where one cannot be.
struct Work {
  static constexpr std::size_t kNoLabel = static_cast<std::size_t>(-1);

  struct Arc {
    std::size_t from = 0, to = 0;
    std::vector<double> ms;  ///< device of `from` × device of `to`
  };

  std::size_t operators = 0, devices = 0, labels = 0;
  std::vector<double> time;
  std::vector<double> head;  ///< none begins there earlier
  std::vector<double> tail;  ///< from its end there to the last end of all passes at least that
  std::vector<Arc> arcs;     ///< one for each two operators, by `to`, then `from`
  std::vector<std::size_t> label;  ///< by operator; equal ones share a device
  std::vector<double> bytes;       ///< by operator
  std::vector<double> memory;      ///< by device: infinity where it has room for all

  std::size_t at(std::size_t op, std::size_t device) const { return op * devices + device; }
};

/// The whole graph in its topological order; heads and tails 0.
Work work_of(const CostModel& costs);

/// The work of schedules read from their end to their begin; operators in the opposite order.
Work mirrored(const Work& work);

/// Some of the operators, which must be in order, and the arcs between them.
Work some_of(const Work& work, std::span<const std::size_t> operators);

/// Raises heads and tails to what paths add to them.
void follow_paths(Work& work);

}  // namespace hios::scheduler::split
