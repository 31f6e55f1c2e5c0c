#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "scheduler/bounds/graph/class_costs.h"
#include "scheduler/bounds/relaxations/preemptive.h"
#include "scheduler/deadline.h"

namespace hios::scheduler {

/// Raises the heads of operators by class, since their nearest ancestors are on their device, one
/// after the other, or send from another (proof in class_heads.cpp).
class ClassHeads {
 public:
  using Set = std::uint32_t;  ///< bit k: class k
  /// Heads count from the schedule's start along edges; tails from its end against them.
  enum class Direction { kForward, kBackward };

  /// Both outlive it.
  ClassHeads(const ClassCosts& costs, const Deadline& deadline);

  /// Raises the heads (or tails) of an operator, by operator × class. `sets`: the remaining classes
  /// of each operator. REQUIRES: the heads of its ancestors (the tails of its descendants) are
  /// there. Does nothing once the work is used up or the deadline has expired.
  void raise(std::size_t v, std::span<const Set> sets, std::vector<double>& heads,
             Direction direction);

 private:
  static constexpr std::uint32_t kNone = static_cast<std::uint32_t>(-1);

  struct Neighbour {
    std::uint32_t other = 0;
    const ClassEdge* edge = nullptr;
  };
  /// An edge from a near ancestor to another, or to v.
  struct Link {
    std::uint32_t to = 0;
    const ClassEdge* edge = nullptr;
  };
  /// An ancestor that can be on v's device.
  struct Choice {
    double far_ms = 0;  ///< when v can start, at the earliest, if it is on another
    Job job;            ///< if it is on v's
  };

  std::span<const Neighbour> nearest_inputs(std::size_t v) const;
  void collect(std::size_t v);
  void link(std::size_t v);
  double transfer_ms(const ClassEdge& edge, std::size_t from, std::size_t to) const;
  void reach(std::size_t i, std::size_t v, std::size_t k, std::span<const Set> sets);
  void reach_over(const ClassEdge& edge, std::size_t y, double* gaps);
  double head_on(std::size_t v, std::size_t k, std::span<const Set> sets,
                 const std::vector<double>& heads);
  double share_or_send(double least_ms);

  const ClassCosts& costs_;
  const Deadline& deadline_;
  std::size_t most_;                               ///< ancestors that are considered
  double work_;                                    ///< cells that may still be visited
  std::vector<std::size_t> first_in_, first_out_;  // by operator, and the end
  std::vector<Neighbour> in_, out_;                // those of an operator from the nearest on
  // The current operator and its ancestors:
  Direction direction_ = Direction::kForward;
  std::vector<std::uint32_t> near_;       // ancestors, the nearest first
  std::vector<std::uint32_t> place_;      // by operator: in near_, or kNone
  std::vector<std::vector<Link>> links_;  // by place
  std::vector<double> gap_;               // by operator × class: from the end there to v's start
  std::vector<double> rest_;              // by operator × class: from the start there to v's start
  std::vector<double> least_rest_;        // by operator: the least of them
  std::vector<Choice> choices_;
  std::vector<Job> jobs_;
};

}  // namespace hios::scheduler
