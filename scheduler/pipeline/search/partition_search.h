#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "scheduler/deadline.h"
#include "scheduler/list/timeline.h"
#include "scheduler/pipeline/pipeline_problem.h"
#include "scheduler/pipeline/slicing/slice_graph.h"

namespace hios::scheduler::pipeline {

struct PartitionSearchOptions {
  std::int64_t moves = 0;  ///< for the same schedule on any machine; 0: until the deadline
};

/// The schedule found, and whether it is proved optimal.
struct PartitionSearchResult {
  TimedSchedule found;
  bool optimal = false;
};

/// Searches partitions directly. Starts from a slicing of a few hundred orders
/// (scheduler/pipeline/slicing/slice_graph.h; fewer where one takes long). Vertices then move
/// between blocks by simulated annealing (partition_moves.h), in rounds each twice as long. After
/// each round the blocks give an order, whose slicing is never worse (Archer, Fahrbach, Liu and
/// Prabhu, "Practical Performance Guarantees for Pipelined DNN Inference", Theorem 4.3); the next
/// round begins with the best. Ends at `bound_ms`, at Slicer's own bound, or when the deadline
/// expires. Throws as slice_orders().
SlicedOrder search_orders(const PipelineProblem& problem, const PartitionSearchOptions& options,
                          double bound_ms, std::uint64_t seed, const Deadline& deadline,
                          const std::function<void(std::string_view)>& progress);

/// Returns the schedule of search_orders(), each block one operator at a time.
PartitionSearchResult search_partitions(const Graph& graph, const CostModel& costs,
                                        const PartitionSearchOptions& options, double bound_ms,
                                        std::uint64_t seed, const Deadline& deadline,
                                        const std::function<void(std::string_view)>& progress);

}  // namespace hios::scheduler::pipeline
