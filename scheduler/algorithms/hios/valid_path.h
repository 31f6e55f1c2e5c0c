#pragma once

#include <limits>
#include <vector>

#include "hios/evaluate/cost_model.h"
#include "hios/graph/graph.h"
#include "scheduler/structures/max_tree.h"
#include "scheduler/structures/position_set.h"

namespace hios::scheduler {

/// A path through operators that are not scheduled.
struct ValidPath {
  std::vector<OpId> operators;
  double length_ms = 0;
};

/// Finds the longest valid path of Alg. 1, line 5, repeatedly while operators get scheduled. On a
/// valid path, only the first and last operator may have an edge from or to a scheduled one. Its
/// length is that of operators and edges by the cost model's means, plus the heaviest edge from a
/// scheduled operator to the first, plus the heaviest from the last to a scheduled one. Among
/// equals, the path whose first operator is first in the order, and at each step the first edge.
class ValidPathSearch {
 public:
  /// Begins with no operator scheduled. O(V + E). All three must outlive the search.
  /// `through_touching`: operators with an edge from or to a scheduled one may also be inside a
  /// path, which the paper excludes. REQUIRES: `order` is a topological order of all operators.
  ValidPathSearch(const Graph& graph, const CostModel& costs, const std::vector<OpId>& order,
                  bool through_touching = false);

  /// Returns the longest path. REQUIRES: some operator is not scheduled.
  ValidPath longest() const;
  /// Marks operators as scheduled. Recomputes their neighbours, and predecessors whose best path
  /// changes. REQUIRES: none of them is scheduled.
  void schedule(const std::vector<OpId>& operators);

 private:
  static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

  /// The best path from an operator, as the essay in valid_path.cpp defines it.
  struct Rest {
    double start_ms = 0, end_ms = 0;
    double best_ms = 0;
    double seen_ms = 0;  ///< length of a path that enters it: best_ms, or only its own and end_ms
    std::size_t next = kNone;
    bool touches = false;
    bool scheduled = false;
  };

  /// Returns true if a path that enters the operator ends there.
  bool ends_paths(const Rest& rest) const { return rest.touches && !through_touching_; }
  void find_rest(std::size_t position);
  void enter_length(std::size_t position);

  const Graph& graph_;
  const CostModel& costs_;
  const std::vector<OpId>& order_;
  bool through_touching_;
  std::vector<std::size_t> position_;  // in order_, by operator
  std::vector<Rest> rests_;            // by position
  MaxTree lengths_;                    // by position: of the longest path from it
  PositionSet changed_;
};

}  // namespace hios::scheduler
