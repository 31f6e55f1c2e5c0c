#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "hios/base/numbers/random.h"
#include "scheduler/deadline.h"
#include "scheduler/pipeline/search/partition.h"

namespace hios::scheduler::pipeline {

/// Simulated annealing over partitions. Moves change a few vertices each: one to any block of its
/// range; two that exchange blocks; one with all dependent vertices of its block to the next block,
/// or with all it depends on to the previous one. Where devices differ, two blocks also swap
/// devices. The problem and the random numbers must outlive it.
class PartitionAnnealing {
 public:
  PartitionAnnealing(const PipelineProblem& problem, Random& random);

  /// Makes `moves` moves while cooling, unless the most expensive block reaches `bound_ms` or the
  /// deadline expires. Leaves the best partition found in `partition`.
  void run(Partition& partition, std::int64_t moves, double bound_ms, const Deadline& deadline);

 private:
  bool propose(Partition& partition);
  bool swap_devices(Partition& partition);
  bool push(Partition& partition, Vertex vertex);
  bool shift(Partition& partition, Vertex vertex, bool exchanges);
  bool exchange(Partition& partition, std::size_t from, std::size_t to, Vertex moved);
  Vertex chosen(const Partition& partition);
  void move(Partition& partition, Vertex vertex, std::size_t to);
  void undo(Partition& partition);

  const PipelineProblem& problem_;
  Random& random_;
  std::vector<std::pair<Vertex, std::size_t>>
      moved_;  // by the last proposal, with their previous blocks
  std::pair<std::size_t, std::size_t> swapped_{0, 0};  // by the last proposal; equal: none
  std::vector<Vertex> pushed_;
  std::vector<std::uint64_t> mark_;  // by vertex
  std::uint64_t now_ = 0;
};

}  // namespace hios::scheduler::pipeline
