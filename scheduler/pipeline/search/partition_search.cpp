#include "scheduler/pipeline/search/partition_search.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "hios/base/numbers/random.h"
#include "scheduler/pipeline/search/partition.h"
#include "scheduler/pipeline/search/partition_moves.h"
#include "scheduler/structures/numbers.h"

namespace hios::scheduler::pipeline {
namespace {

constexpr double kStartPopulation = 20;
constexpr std::size_t kStartGenerations = 10;
constexpr double kStartSteps = 1e8;       ///< segments of all orders together: about a second
constexpr std::int64_t kFirstRound = 64;  ///< moves a vertex

/// Returns true if a partition's costs equal those of its slicing: no device can overflow.
bool moves_are_exact(const PipelineProblem& problem) {
  return std::ranges::none_of(problem.classes(),
                              [](const PipelineClass& each) { return each.fast_memory.bytes > 0; });
}

/// Returns options for a few hundred orders, or as many as leave most of the time. Without exact
/// moves: for as many as slice-graph tries.
SliceGraphOptions start_of(const PipelineProblem& problem) {
  if (!moves_are_exact(problem)) return {};
  const auto size = static_cast<double>(problem.size());
  const double order_steps = size * size * static_cast<double>(problem.classes().size()) /
                             static_cast<double>(problem.devices());
  const double orders = kStartSteps / std::max(1.0, order_steps);
  const double population = std::min(kStartPopulation, orders / kStartGenerations);
  if (population < 2) return {OrderSearch::kGiven};
  return {OrderSearch::kGenetic, static_cast<std::size_t>(population), kStartGenerations};
}

}  // namespace

SlicedOrder search_orders(const PipelineProblem& problem, const PartitionSearchOptions& options,
                          double bound_ms, std::uint64_t seed, const Deadline& deadline,
                          const std::function<void(std::string_view)>& progress) {
  const Slicer slicer(problem);
  bound_ms = std::max(bound_ms, slicer.simple_bound_ms());
  // Where slices count most, use slice-graph's random numbers, so as not to be worse than it.
  const char* const numbers = moves_are_exact(problem) ? "best" : "slice-graph";
  SlicedOrder best = slice_orders(problem, start_of(problem), seed, numbers, deadline);
  std::vector<Vertex> deep = depth_first_order(problem);
  Slicing sliced = slicer.slice(deep, best.slicing.period_ms, deadline);
  if (sliced.period_ms < best.slicing.period_ms) best = {std::move(deep), std::move(sliced)};
  Random random(seed, "partitions");
  PartitionAnnealing annealing(problem, random);
  std::int64_t left = options.moves > 0 ? options.moves : std::numeric_limits<std::int64_t>::max();
  std::int64_t round = kFirstRound * static_cast<std::int64_t>(problem.size());
  if (problem.size() < 2 || problem.devices() < 2) return best;
  // With inexact moves, a partition may only seem to reach the bound.
  const bool exact = moves_are_exact(problem);
  while (left > 0 && best.slicing.period_ms > bound_ms * (1 + kRounding) && !deadline.expired()) {
    Partition partition(problem, best.order, best.slicing);
    annealing.run(partition, std::min(round, left), exact ? bound_ms : 0, deadline);
    left -= std::min(round, left);
    round = std::min(2 * round, std::numeric_limits<std::int64_t>::max() / 4);
    // Take the blocks themselves first: the deadline may leave no time for a slicing.
    std::vector<Vertex> order = partition.order();
    Slicing slicing = partition.slicing(order);
    const double below_ms = std::min(slicing.period_ms, best.slicing.period_ms);
    Slicing better = slicer.slice(order, below_ms, deadline);
    if (better.period_ms < below_ms) slicing = std::move(better);
    if (slicing.period_ms < best.slicing.period_ms) best = {std::move(order), std::move(slicing)};
    if (progress) progress("period " + std::to_string(best.slicing.period_ms) + " ms");
  }
  return best;
}

PartitionSearchResult search_partitions(const Graph& graph, const CostModel& costs,
                                        const PartitionSearchOptions& options, double bound_ms,
                                        std::uint64_t seed, const Deadline& deadline,
                                        const std::function<void(std::string_view)>& progress) {
  const PipelineProblem problem(graph, costs);
  const SlicedOrder best = search_orders(problem, options, bound_ms, seed, deadline, progress);
  bound_ms = std::max(bound_ms, Slicer(problem).simple_bound_ms());
  return {{schedule_of(problem, best.order, best.slicing), deadline.expired()},
          best.slicing.period_ms <= bound_ms * (1 + kRounding)};
}

}  // namespace hios::scheduler::pipeline
