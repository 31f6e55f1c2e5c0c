#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "scheduler/bounds/classes/class_candidates.h"
#include "scheduler/bounds/graph/class_costs.h"

namespace hios::scheduler {

/// An inequality that holds in every schedule of at most the latency T of refresh(), where x(v, k)
/// is 1 if operator v is on a device of class k, and else 0:
/// Σ coefficient · x <= slope · T + constant.
struct AssignmentRow {
  struct Entry {
    std::uint32_t v = 0, k = 0;
    double coefficient = 0;
  };
  double slope = 0, constant = 0;
  std::vector<Entry> entries;
};

/// Inequalities of work, memory and paths (proofs in assignment_rows.cpp).
class AssignmentRows {
 public:
  /// Starts with the work and the memory of every class. The costs outlive it.
  explicit AssignmentRows(const ClassCosts& costs);

  /// Computes the entries for these candidates of schedules of at most this latency. The rows hold
  /// where the candidates do.
  void refresh(const ClassCandidates& candidates, double latency_ms);
  /// Adds rows that this fractional assignment, by operator × class, violates at the latency.
  /// Returns true if it has found any. Needs refresh().
  bool add_violated(std::span<const double> x, const ClassCandidates& candidates,
                    double latency_ms);

  const std::vector<AssignmentRow>& rows() const { return rows_; }

 private:
  /// The work of a class between `after_ms` and `before_ms` before the end.
  struct Load {
    std::size_t k = 0;
    double after_ms = 0, before_ms = 0;
  };
  /// Operators that follow each other. `senders` has, by edge of the path, the classes of its
  /// sender for which the transfer counts.
  struct Path {
    std::vector<std::uint32_t> operators;
    std::vector<const ClassEdge*> edges;
    std::vector<ClassCandidates::Set> senders;
  };

  AssignmentRow load_row(const Load& load, const ClassCandidates& candidates) const;
  AssignmentRow memory_row(std::size_t k, const ClassCandidates& candidates) const;
  AssignmentRow path_row(const Path& path, const ClassCandidates& candidates) const;
  bool add_load(std::size_t k, std::span<const double> x, const ClassCandidates& candidates,
                double latency_ms);
  bool add_path(std::span<const double> x, const ClassCandidates& candidates, double latency_ms);

  const ClassCosts& costs_;
  double latency_ms_ = 0;
  std::vector<Load> loads_;
  std::vector<std::size_t> memories_;  // classes with limited memory
  std::vector<Path> paths_;
  std::vector<AssignmentRow> rows_;  // of loads_, memories_ and paths_, in the order of kinds_
  struct Source {
    int kind = 0;  // 0: loads_, 1: memories_, 2: paths_
    std::size_t index = 0;
  };
  std::vector<Source> sources_;  // by row
};

}  // namespace hios::scheduler
