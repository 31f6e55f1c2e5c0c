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

/// The longest valid path of Alg. 1, line 5, again and again while operators get scheduled: no
/// operator but the first and last has an edge from or to a scheduled one. Its length counts
/// operators and edges by the cost model's means, the heaviest edge from a scheduled operator to
/// the first and the heaviest edge from the last to a scheduled one. Among equals the one whose
/// first operator comes first in the order, and at each step the first edge among equals.
class ValidPathSearch {
 public:
  /// None scheduled. O(V + E). All three outlive the search. `through_touching`: operators with an
  /// edge from or to a scheduled one may also stand inside a path, which the paper rules out.
  /// REQUIRES: `order` is a topological order of all operators.
  ValidPathSearch(const Graph& graph, const CostModel& costs, const std::vector<OpId>& order,
                  bool through_touching = false);

  /// REQUIRES: an operator is not scheduled.
  ValidPath longest() const;
  /// Recomputes what this changes: the neighbours, and before them those whose best rest of a path
  /// is another now. REQUIRES: none of them is scheduled.
  void schedule(const std::vector<OpId>& operators);

 private:
  static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

  /// An operator that is not scheduled, as the essay in valid_path.cpp defines it.
  struct Rest {
    double start_ms = 0, end_ms = 0;
    double best_ms = 0;
    double seen_ms = 0;  ///< what a path gets that comes here from before: best, or as the last
    std::size_t next = kNone;
    bool touches = false;
    bool scheduled = false;
  };

  /// Whether a path that comes to it ends there.
  bool ends_paths(const Rest& rest) const { return rest.touches && !through_touching_; }
  void find_rest(std::size_t position);
  void enter_length(std::size_t position);

  const Graph& graph_;
  const CostModel& costs_;
  const std::vector<OpId>& order_;
  bool through_touching_;
  std::vector<std::size_t> position_;  // in order_, by operator
  std::vector<Rest> rests_;            // by position
  MaxTree lengths_;                    // by position: of the path that begins there
  PositionSet changed_;
};

}  // namespace hios::scheduler
