#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "hios/evaluate/cost_model.h"
#include "hios/graph/graph.h"
#include "scheduler/deadline.h"
#include "scheduler/list/timeline.h"
#include "scheduler/pipeline/pipeline_problem.h"
#include "scheduler/pipeline/slicing/slicing.h"

namespace hios::scheduler::pipeline {

/// The source of the topological orders.
enum class OrderSearch {
  kGiven,        ///< the graph's own
  kRandom,       ///< random priorities
  kGenetic,      ///< priorities by a genetic algorithm, judged by the slicing (Alg. 2)
  kArrangement,  ///< by the sum of the lengths of edges; each that is shorter than all before
                 ///< it is sliced, and the best slicing kept (the paper slices one order)
  kWeightedArrangement,  ///< the same, with edges weighted by transfers
};
/// Throws InputError that lists the names: given, random, brkga, mla, mla-weighted.
OrderSearch order_search_named(std::string_view name);

struct SliceGraphOptions {
  OrderSearch order = OrderSearch::kGenetic;
  std::size_t population = 100;
  std::size_t generations = 100;
};

/// An order and its optimal slicing.
struct SlicedOrder {
  std::vector<Vertex> order;
  Slicing slicing;
};

/// Returns the order with the cheapest most expensive block of the graph's own, which is always
/// sliced, and of those of the search, which are tried until the deadline: population · generations
/// random ones, or fewer by the genetic algorithm, whose elites are not judged again
/// (evolve_keys(): 8,020 of 100 · 100). The same seed gives the same result. Throws InputError,
/// which names the algorithm, where no order has a slicing.
SlicedOrder slice_orders(const PipelineProblem& problem, const SliceGraphOptions& options,
                         std::uint64_t seed, std::string_view algorithm, const Deadline& deadline);

/// Runs SliceGraph of Archer, Fahrbach, Liu and Prabhu, "Practical Performance Guarantees for
/// Pipelined DNN Inference" (section 4, appendix C.1): the blocks of slice_orders(), each one
/// operator at a time. Throws as that does, where devices have too little memory or cannot run an
/// operator.
TimedSchedule slice_graph(const Graph& graph, const CostModel& costs,
                          const SliceGraphOptions& options, std::uint64_t seed,
                          const Deadline& deadline);

}  // namespace hios::scheduler::pipeline
