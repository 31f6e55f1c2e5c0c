#pragma once

#include <functional>
#include <vector>

#include "hios/evaluate/cost_model.h"
#include "hios/graph/graph.h"
#include "scheduler/bounds/bounds.h"
#include "scheduler/bounds/heads.h"
#include "scheduler/bounds/places.h"
#include "scheduler/bounds/problem.h"
#include "scheduler/bounds/shares.h"

/// The bounds that all_bounds() lists, in ms, each in a file of its own with its proof. Those that
/// take long return what they have, or 0, once the context says stop.
namespace hios::scheduler {

/// What bounds that look at single devices start from.
struct BoundContext {
  const Graph& graph;
  const CostModel& costs;
  const Shares& shares;
  const Places& places;
  const std::function<bool()>& stop;  ///< may be empty

  bool stopped() const { return stop && stop(); }
};

double critical_path_ms(const Problem& problem, const Windows& paths);
double intervals_ms(const Problem& problem, const Windows& windows, const BoundContext& context);
double together_ms(const Problem& problem, const Windows& windows, const BoundContext& context);

/// A bound above `known_ms`, or 0.
double destructive_ms(const Problem& problem, const Windows& windows, const BoundContext& context,
                      double known_ms);

/// Those but the last, with their windows.
std::vector<LowerBound> timed_bounds(const Problem& problem, const BoundContext& context);

double work_ms(const BoundContext& context, const std::vector<OpId>& operators);
/// 0 where no device's memory is limited.
double memory_ms(const BoundContext& context, const std::vector<OpId>& operators);
/// 0 where there are no separators.
double separators_ms(const BoundContext& context, Parts& parts);

}  // namespace hios::scheduler
