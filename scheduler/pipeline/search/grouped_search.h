#pragma once

#include "scheduler/deadline.h"
#include "scheduler/pipeline/search/partition_search.h"

namespace hios::scheduler::pipeline {

/// search_partitions(), and then stages of several groups where these pay (block_stages.h): blocks
/// found for operators one at a time get groups; what groups leave of each operator's time is what
/// a second search counts, and its blocks get groups, too. Schedules that make the latency short
/// (hios-lp and ios) count where their blocks form no cycle. Of all these the shortest period by
/// period_of(). Throws as slice_graph(). `bound_ms`: of the period, groups allowed for. Where the
/// deadline has no time limit, its expiry finds no groups.
PartitionSearchResult search_grouped(const Graph& graph, const CostModel& costs,
                                     const PartitionSearchOptions& options, double bound_ms,
                                     std::uint64_t seed, const Deadline& deadline,
                                     const std::function<void(std::string_view)>& progress);

}  // namespace hios::scheduler::pipeline
