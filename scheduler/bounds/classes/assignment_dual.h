#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "scheduler/bounds/bound_context.h"
#include "scheduler/bounds/classes/assignment_rows.h"
#include "scheduler/bounds/classes/class_candidates.h"
#include "scheduler/bounds/graph/class_costs.h"

namespace hios::scheduler {

/// Multipliers of AssignmentRows, and the bounds that they prove (proof in assignment_dual.cpp).
class AssignmentDual {
 public:
  /// The costs outlive it.
  explicit AssignmentDual(const ClassCosts& costs) : costs_(costs), rows_(costs) {}

  /// Improves the multipliers, and returns their largest bound. If it is above `latency_ms`, no
  /// schedule that uses the candidates alone takes at most that; rows are those of this latency, so
  /// a smaller bound says nothing of shorter schedules. Stops once it is above, at the deadline, or
  /// when `work` is used up, which it reduces by about the cells visited.
  double raise(const ClassCandidates& candidates, double latency_ms, const Deadline& deadline,
               double& work);
  /// Returns the bound of the best multipliers, for the latency of raise() and fewer candidates
  /// than it had; 0 without multipliers.
  double bound_ms(const ClassCandidates& candidates) const;
  /// Returns the fractional assignment at which raise() ended, by operator × class; empty before.
  std::vector<double> shares() const;
  /// Excludes the classes on which an operator would raise the bound above the latency. Returns
  /// true if there are any. REQUIRES: raise() with these candidates and this latency before.
  bool exclude_costly(ClassCandidates& candidates, double latency_ms) const;

 private:
  /// A coefficient of a cell's operator and class.
  struct Term {
    std::uint32_t row = 0;
    double coefficient = 0;
  };
  struct Value {
    double bound_ms = 0;   ///< the exact one
    double smooth_ms = 0;  ///< with soft minima and the barrier
  };
  /// The weights of soft minima and of the barrier.
  struct Smoothing {
    double soft = 0, barrier = 0;
  };

  void gather(const ClassCandidates& candidates);
  void scale_multipliers();
  Value value(const std::vector<double>& multipliers, const Smoothing& smoothing);
  Value derive(const Smoothing& smoothing);
  void add_curvature(std::size_t v);
  bool step(const Smoothing& smoothing, Value& now);
  std::vector<double> direction() const;
  double cost(std::size_t cell, const std::vector<double>& multipliers) const;
  void keep_best(const Value& value, const std::vector<double>& multipliers);

  const ClassCosts& costs_;
  AssignmentRows rows_;
  std::vector<double> multipliers_, best_;  // by row
  double best_ms_ = 0;
  // Candidate cells, those of an operator in a row, and their terms.
  std::vector<std::size_t> first_cell_;  // by operator, and the end
  std::vector<std::uint32_t> class_of_;  // by candidate cell
  std::vector<std::size_t> first_term_;  // by candidate cell, and the end
  std::vector<Term> terms_;
  std::vector<double> chance_;                // by candidate cell: its part of the soft minimum
  std::vector<double> gradient_, curvature_;  // by row; row × row
  // One operator in add_curvature(): the means of its coefficients, by row, and its rows.
  std::vector<double> mean_;
  std::vector<bool> is_touched_;
  std::vector<std::uint32_t> touched_;
};

}  // namespace hios::scheduler
