#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "hios/evaluate/cost_model.h"
#include "hios/graph/graph.h"
#include "scheduler/deadline.h"
#include "scheduler/list/timeline.h"

namespace hios::scheduler {

/// A scheduler under some costs: those of all devices or of a subset (CostModel::only).
using Variant = std::function<TimedSchedule(const CostModel&)>;

/// Returns the variants of Alg. 1, the paper's first: with `any_paths`, also paths through
/// operators with scheduled neighbours; with `insertion`, each also with operators in gaps. Graph
/// and deadline must outlive them.
std::vector<Variant> longest_path_variants(const Graph& graph, bool insertion, bool any_paths,
                                           const Deadline& deadline);

/// Returns the mapping followed by Alg. 2. Graph and deadline must outlive it.
Variant with_stages(const Graph& graph, Variant map, std::size_t window, const Deadline& deadline);

/// Returns the shortest schedule of the variants, the first among equals; timed_out if that one
/// was. The first variant always runs, and its exceptions pass; the others run before the deadline.
/// With `unlike`, and where devices differ, each also runs on the fastest of them alone
/// (fastest_devices): a rule that considers one operator or path at a time may give a slow device
/// an operator that delays all others. REQUIRES: a variant.
TimedSchedule shortest(const Graph& graph, const CostModel& costs,
                       const std::vector<Variant>& variants, bool unlike, const Deadline& deadline);

}  // namespace hios::scheduler
