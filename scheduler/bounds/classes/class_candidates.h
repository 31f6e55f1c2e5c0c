#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "scheduler/bounds/classes/class_heads.h"
#include "scheduler/bounds/graph/bound_graph.h"
#include "scheduler/bounds/graph/class_costs.h"
#include "scheduler/bounds/graph/heads.h"

namespace hios::scheduler {

/// The classes of devices on which operators can still be placed if a schedule takes at most some
/// latency, and their time windows there.
class ClassCandidates {
 public:
  using Set = ClassHeads::Set;

  /// Starts with all classes that can run an operator. The arguments outlive it. `heads`: raises
  /// heads and tails further, if given.
  ClassCandidates(const BoundGraph& graph, const ClassCosts& costs, const TimeWindows& windows,
                  ClassHeads* heads = nullptr);

  /// Computes the windows, and excludes the classes on which an operator would be too late, until
  /// nothing changes or for a few rounds. Returns false if an operator has no class left.
  bool narrow(double latency_ms);
  void exclude(std::size_t v, std::size_t k) { sets_[v] &= ~(Set{1} << k); }
  /// Narrows without ClassHeads from now on, which is much faster.
  void leave_heads() { heads_ = nullptr; }
  void place(std::size_t v, std::size_t k) { sets_[v] = Set{1} << k; }

  bool may_be(std::size_t v, std::size_t k) const { return (sets_[v] >> k & 1) != 0; }
  Set classes(std::size_t v) const { return sets_[v]; }
  /// Return the earliest virtual start on a device of the class, and the least time from the
  /// virtual end there until the schedule's end. They need narrow().
  double head(std::size_t v, std::size_t k) const { return head_[costs_->cell(v, k)]; }
  double tail(std::size_t v, std::size_t k) const { return tail_[costs_->cell(v, k)]; }

 private:
  using Operators = std::uint64_t;  // bit v: operator v
  static constexpr std::size_t kMostRelated = 64;
  enum class Direction { kForward, kBackward };
  /// The head (or tail) and path share of an operator, by class, and the least of them.
  struct Times {
    std::array<double, kMostClasses> by_class;
    double least;
    void set(const ClassCandidates& candidates, std::size_t v, const std::vector<double>& from);
  };

  void relate();
  void find_heads();
  void find_tails();
  double least_arrival(const ClassEdge& edge, const Times& times, std::size_t k,
                       Direction direction) const;
  double after_shared(const std::vector<Operators>& others, std::size_t v, std::size_t k,
                      const std::vector<double>& from) const;
  bool exclude_late(double latency_ms, bool& changed);
  bool unite_colocated(bool& changed);

  const BoundGraph* graph_;
  const ClassCosts* costs_;
  const TimeWindows* windows_;
  ClassHeads* heads_;
  std::vector<Set> sets_;                  // by operator
  std::vector<double> head_, tail_;        // by operator × class
  std::vector<Operators> before_, after_;  // ancestors and descendants; empty in large graphs
};

}  // namespace hios::scheduler
