#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "hios/base/numbers/random.h"
#include "scheduler/deadline.h"
#include "scheduler/pipeline/search/partition.h"

namespace hios::scheduler::pipeline {

/// Simulated annealing over partitions, the moves a few vertices each: one into any block of its
/// window; two that change places; one with all that depends on it in its block, into the block
/// behind, or with all that it depends on into the block before; and, where devices differ, two
/// blocks that change devices. The problem and the random numbers must outlive it.
class PartitionAnnealing {
 public:
  PartitionAnnealing(const PipelineProblem& problem, Random& random);

  /// As many moves, cooler and cooler, unless the most expensive block gets as cheap as `bound_ms`
  /// or the deadline expires. Leaves the best that it met in `partition`.
  void run(Partition& partition, std::int64_t moves, double bound_ms, const Deadline& deadline);

 private:
  bool propose(Partition& partition);
  bool swap_devices(Partition& partition);
  bool push(Partition& partition, Vertex vertex);
  bool shift(Partition& partition, Vertex vertex, bool change_places);
  bool change_places(Partition& partition, std::size_t from, std::size_t to, Vertex moved);
  Vertex chosen(const Partition& partition);
  void move(Partition& partition, Vertex vertex, std::size_t to);
  void undo(Partition& partition);

  const PipelineProblem& problem_;
  Random& random_;
  std::vector<std::pair<Vertex, std::size_t>> moved_;  // by the last proposal, from where
  std::pair<std::size_t, std::size_t> swapped_{0, 0};  // by the last proposal; equal: none
  std::vector<Vertex> pushed_;
  std::vector<std::uint64_t> mark_;  // by vertex
  std::uint64_t now_ = 0;
};

}  // namespace hios::scheduler::pipeline
