#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "hios/evaluate/cost_model.h"

namespace hios::scheduler::split {

/// A scheduling problem of one operator after the other on every device, as flat arrays for the
/// inner loops of a decision diagram. Operators are numbered by a topological order. Times are in
/// ms by operator × device, infinity where a device cannot run the operator.
struct DiagramProblem {
  static constexpr std::size_t kNoLabel = static_cast<std::size_t>(-1);

  struct Arc {
    std::size_t from = 0, to = 0;
    std::vector<double> ms;  ///< device of `from` × device of `to`
  };

  std::size_t operators = 0, devices = 0, labels = 0;
  std::vector<double> time;
  std::vector<double> head;        ///< a lower bound of the operator's start there
  std::vector<double> tail;        ///< a lower bound of the time from its end there to the last end
  std::vector<Arc> arcs;           ///< at most one for each two operators, by `to`, then `from`
  std::vector<std::size_t> label;  ///< by operator; operators of one label share a device
  std::vector<double> bytes;       ///< by operator
  std::vector<double> memory;      ///< by device; infinity where it can hold all operators

  std::size_t at(std::size_t op, std::size_t device) const { return op * devices + device; }
};

/// Returns the problem of the whole graph in its topological order; heads and tails are 0.
DiagramProblem diagram_problem(const CostModel& costs);

/// Returns the problem of schedules read from their end to their begin: operators in the opposite
/// order, heads and tails exchanged.
DiagramProblem mirrored(const DiagramProblem& problem);

/// Returns the problem of some of the operators, which must be in order, and the arcs between them.
DiagramProblem restricted_to(const DiagramProblem& problem, std::span<const std::size_t> operators);

/// Raises heads and tails to the longest paths that lead to and from each operator.
void tighten_along_paths(DiagramProblem& problem);

}  // namespace hios::scheduler::split
