#include "scheduler/pipeline/slicing/slice_graph.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "hios/base/error.h"
#include "hios/base/nearest_name.h"
#include "hios/base/numbers/random.h"
#include "scheduler/list/placement.h"
#include "scheduler/pipeline/pipeline_problem.h"
#include "scheduler/pipeline/slicing/genetic_keys.h"
#include "scheduler/pipeline/slicing/slicing.h"
#include "scheduler/structures/numbers.h"

namespace hios::scheduler::pipeline {
namespace {

constexpr std::array<std::pair<std::string_view, OrderSearch>, 5> kSearches{{
    {"given", OrderSearch::kGiven},
    {"random", OrderSearch::kRandom},
    {"brkga", OrderSearch::kGenetic},
    {"mla", OrderSearch::kArrangement},
    {"mla-weighted", OrderSearch::kWeightedArrangement},
}};

/// Returns a hash of the order, so that a repeated order, common in small graphs, is not sliced
/// again; collisions are very unlikely.
std::uint64_t fingerprint(std::span<const Vertex> order) {
  std::uint64_t number = 0;
  for (const Vertex vertex : order) number = Random(number ^ vertex).next();
  return number;
}

/// Slices orders and keeps the best of them.
class BestSlicing {
 public:
  explicit BestSlicing(const PipelineProblem& problem) : slicer_(problem) {}

  /// Returns the period of the order's slicing; infinite if there is none below the limit or the
  /// deadline expires.
  double judge(std::vector<Vertex> order, const Deadline& deadline = {},
               double below_ms = kInfinity) {
    const auto [seen, added] = periods_ms_.try_emplace(fingerprint(order), kInfinity);
    if (!added) return seen->second;
    Slicing slicing = slicer_.slice(order, below_ms, deadline);
    seen->second = slicing.period_ms;
    if (slicing.period_ms < period_ms()) best_ = {std::move(order), std::move(slicing)};
    return seen->second;
  }

  /// Slices the order by Slicer::coarse().
  void judge_coarsely(std::vector<Vertex> order) {
    Slicing slicing = slicer_.coarse(order);
    if (slicing.period_ms < period_ms()) best_ = {std::move(order), std::move(slicing)};
  }

  double period_ms() const { return best_.slicing.period_ms; }
  SlicedOrder take() { return std::move(best_); }

 private:
  Slicer slicer_;
  std::unordered_map<std::uint64_t, double> periods_ms_;  // by fingerprint
  SlicedOrder best_;
};

/// Returns the sum of the lengths of edges, or of lengths times transfers, in positions of the
/// order.
double arrangement(const PipelineProblem& problem, std::span<const Vertex> order, bool weighted) {
  std::vector<double> position(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) position[order[i]] = static_cast<double>(i);
  double sum = 0;
  for (const PipelineTensor& tensor : problem.tensors()) {
    for (const Vertex consumer : tensor.consumers) {
      sum += (position[consumer] - position[tensor.producer]) * (weighted ? tensor.ms : 1);
    }
  }
  return sum;
}

void search_random(const PipelineProblem& problem, std::size_t orders, std::uint64_t seed,
                   const Deadline& deadline, BestSlicing& best) {
  Random random(seed, "orders");
  std::vector<double> priorities(problem.size());
  for (std::size_t i = 0; i < orders && !deadline.expired(); ++i) {
    for (double& priority : priorities) priority = random.uniform();
    best.judge(order_by_priority(problem, priorities), deadline, best.period_ms());
  }
}

void search_arrangement(const PipelineProblem& problem, const GeneticOptions& genetic,
                        std::uint64_t seed, bool weighted, const Deadline& deadline,
                        BestSlicing& best) {
  double shortest = kInfinity;
  evolve_keys(
      problem.size(), genetic, seed, {},
      [&](std::span<const double> priorities) {
        std::vector<Vertex> order = order_by_priority(problem, priorities);
        const double length = arrangement(problem, order, weighted);
        if (length < shortest) {
          shortest = length;
          best.judge(std::move(order), deadline, best.period_ms());
        }
        return length;
      },
      deadline);
}

[[noreturn]] void refuse(const PipelineProblem& problem, std::string_view algorithm,
                         const Deadline& deadline) {
  // If no placement fits at all, that is the reason.
  (void)pack_operators(problem.graph(), problem.costs(), algorithm, deadline);
  throw InputError(
      std::string(algorithm) +
      ": found no way to cut the operators into blocks, one a device, that form no cycle "
      "and that the devices can run and hold; loosen memory_bytes, allowed or colocate");
}

}  // namespace

OrderSearch order_search_named(std::string_view name) {
  std::string known;
  std::vector<std::string_view> names;
  for (const auto& [each, search] : kSearches) {
    if (each == name) return search;
    known += (known.empty() ? "" : ", ") + std::string(each);
    names.push_back(each);
  }
  throw InputError("order: " + quote(name) + " is none of " + known + did_you_mean(name, names));
}

SlicedOrder slice_orders(const PipelineProblem& problem, const SliceGraphOptions& options,
                         std::uint64_t seed, std::string_view algorithm, const Deadline& deadline) {
  BestSlicing best(problem);
  best.judge_coarsely(problem.given_order());  // gives a schedule under any deadline
  best.judge(problem.given_order(), best.period_ms() < kInfinity ? deadline : Deadline());
  const GeneticOptions genetic{.population = options.population,
                               .generations = options.generations};
  switch (options.order) {
    case OrderSearch::kGiven:
      break;
    case OrderSearch::kRandom:
      search_random(problem, options.population * options.generations, seed, deadline, best);
      break;
    case OrderSearch::kGenetic:
      evolve_keys(
          problem.size(), genetic, seed, {},
          [&](std::span<const double> priorities) {
            return best.judge(order_by_priority(problem, priorities), deadline);
          },
          deadline);
      break;
    case OrderSearch::kArrangement:
    case OrderSearch::kWeightedArrangement:
      search_arrangement(problem, genetic, seed, options.order == OrderSearch::kWeightedArrangement,
                         deadline, best);
      break;
  }
  if (best.period_ms() == kInfinity) refuse(problem, algorithm, deadline);
  return best.take();
}

TimedSchedule slice_graph(const Graph& graph, const CostModel& costs,
                          const SliceGraphOptions& options, std::uint64_t seed,
                          const Deadline& deadline) {
  const PipelineProblem problem(graph, costs);
  const SlicedOrder best = slice_orders(problem, options, seed, "slice-graph", deadline);
  return {schedule_of(problem, best.order, best.slicing), deadline.expired()};
}

}  // namespace hios::scheduler::pipeline
