#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "scheduler/deadline.h"
#include "scheduler/pipeline/search/partition_search.h"

namespace hios::scheduler::pipeline {

/// Runs search_partitions(), then finds stages of several groups where these pay (block_stages.h).
/// Blocks found for serial operators are grouped; a second search counts the share of each
/// operator's time that its stage leaves, and its blocks are grouped, too. Schedules of short
/// latency (hios-lp and ios) also count if their blocks form no cycle. Returns the schedule of the
/// shortest period by period_of(). Throws as slice_graph(). `bound_ms`: a bound of the period that
/// holds for groups. Without a time limit in the deadline, its expiry skips the groups.
PartitionSearchResult search_grouped(const Graph& graph, const CostModel& costs,
                                     const PartitionSearchOptions& options, double bound_ms,
                                     std::uint64_t seed, const Deadline& deadline,
                                     const std::function<void(std::string_view)>& progress);

}  // namespace hios::scheduler::pipeline
