#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "scheduler/best/annealing.h"
#include "scheduler/best/state/search_problem.h"

namespace hios::scheduler::best {

/// Annealings of one problem, side by side, which share no more than the best that they found. What
/// they find follows from the arguments alone, however many threads run them.
class Islands {
 public:
  /// `count` islands from one start. The graph and platform of `costs` outlive them.
  /// REQUIRES: `start` is valid and on devices that `costs` lets operators run on; count > 0.
  Islands(const CostModel& costs, const Schedule& start, std::size_t count, std::uint64_t seed);

  std::size_t size() const { return islands_.size(); }
  Annealing& operator[](std::size_t island) { return *islands_[island]; }
  const Annealing& leading() const { return *islands_[leader()]; }

  /// Between two cycles: every other island goes on from the best of all; the rest keep their own.
  void exchange();
  /// Between two cycles: the last island goes on from this schedule if it is the shortest of all.
  /// Nothing where it places an operator on a device that the costs exclude.
  void take(const Schedule& schedule, double latency_ms);

 private:
  std::size_t leader() const;

  SearchProblem problem_;
  std::vector<std::unique_ptr<Annealing>> islands_;
};

}  // namespace hios::scheduler::best
