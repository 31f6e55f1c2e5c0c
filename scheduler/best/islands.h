#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "scheduler/best/annealing.h"
#include "scheduler/best/state/search_problem.h"

namespace hios::scheduler::best {

/// Parallel annealings of one problem, which share only their best schedules. The result depends on
/// the arguments alone, not on the number of threads.
class Islands {
 public:
  /// `count` islands, about equally many from each start, the first one's first. The graph and
  /// platform of `costs` outlive them. REQUIRES: starts, at least one, are valid and on devices
  /// that `costs` lets operators run on; count > 0.
  Islands(const CostModel& costs, std::span<const Schedule> starts, std::size_t count,
          std::uint64_t seed);

  std::size_t size() const { return islands_.size(); }
  Annealing& operator[](std::size_t island) { return *islands_[island]; }
  const Annealing& leading() const { return *islands_[leader()]; }

  /// Lets every other island continue from the best of all, between two cycles.
  void exchange();
  /// Lets the last island continue from this schedule, between two cycles, if it is the shortest of
  /// all. Does nothing if it uses a device that the costs exclude.
  void take(const Schedule& schedule, double latency_ms);

 private:
  std::size_t leader() const;

  SearchProblem problem_;
  std::vector<std::unique_ptr<Annealing>> islands_;
};

}  // namespace hios::scheduler::best
