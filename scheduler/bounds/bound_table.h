#pragma once

#include <vector>

#include "hios/evaluate/cost_model.h"
#include "hios/graph/graph.h"
#include "scheduler/bounds/bounds.h"
#include "scheduler/bounds/graph/allowed_devices.h"
#include "scheduler/bounds/graph/bound_graph.h"
#include "scheduler/bounds/graph/heads.h"
#include "scheduler/bounds/graph/shares.h"
#include "scheduler/deadline.h"

/// The bounds that all_bounds() lists, in ms, each with its proof in a file of its name (work and
/// memory in lagrangian.cpp). Those that take long return what they have, or 0, once the context
/// says stop.
namespace hios::scheduler {

/// What bounds on single devices start from.
struct BoundContext {
  const Graph& graph;
  const CostModel& costs;
  const Shares& shares;
  const Places& places;
  const Deadline& deadline;  ///< may be empty

  bool stopped() const { return deadline.expired(); }
};

double critical_path_ms(const BoundGraph& graph, const Windows& paths);
double intervals_ms(const BoundGraph& graph, const Windows& windows, const BoundContext& context);
double colocation_ms(const BoundGraph& graph, const Windows& windows, const BoundContext& context);

/// A bound above `known_ms`, or 0.
double destructive_ms(const BoundGraph& graph, const Windows& windows, const BoundContext& context,
                      double known_ms);

/// Those but the last, with their windows.
std::vector<LowerBound> timed_bounds(const BoundGraph& graph, const BoundContext& context);

double work_ms(const BoundContext& context, const std::vector<OpId>& operators);
/// 0 where no device's memory is limited.
double memory_ms(const BoundContext& context, const std::vector<OpId>& operators);
/// 0 where there are no separators.
double separators_ms(const BoundContext& context, GraphParts& parts);

}  // namespace hios::scheduler
