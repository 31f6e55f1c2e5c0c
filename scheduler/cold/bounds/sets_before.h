#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "hios/graph/graph.h"
#include "scheduler/cold/bounds/moved_sets.h"

namespace hios::scheduler {

/// The sets of parameters that have moved before each operator starts, since the operators on paths
/// to it read them. Kept as bits: operators times sets. Refers to `moved`, which outlives it.
class SetsBefore {
 public:
  /// Returns true if the bits take no more than 64 MiB.
  static bool fits(const Graph& graph, const MovedSets& moved);
  /// REQUIRES: fits().
  SetsBefore(const Graph& graph, const MovedSets& moved);

  bool has(OpId op, std::size_t set) const;
  /// Returns the fewest bytes that the sets before an operator move.
  double bytes(OpId op) const;
  /// Returns the sets before an operator, ascending.
  std::vector<std::size_t> before(OpId op) const;

 private:
  void add(OpId op, OpId from);
  template <class Visit>
  void for_each(OpId op, Visit visit) const;

  const MovedSets& moved_;
  std::size_t words_;
  std::vector<std::uint64_t> bits_;  // operator × set
};

}  // namespace hios::scheduler
