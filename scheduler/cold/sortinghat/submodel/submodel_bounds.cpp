#include "scheduler/cold/sortinghat/submodel/submodel_bounds.h"

#include <algorithm>
#include <cstddef>

#include "scheduler/structures/numbers.h"

// Test: tests/scheduler/cold/sortinghat/submodel_test.cpp, by brute force over all assignments.

namespace hios::scheduler::sortinghat {
namespace {

double least(const std::vector<double>& ms) { return *std::ranges::min_element(ms); }

/// Returns the earliest end of a load that has the bus of its device for itself.
double least_load_end_ms(const SubmodelProblem& problem, std::size_t parameters, double start_ms) {
  double end_ms = kInfinity;
  for (std::size_t d = 0; d < problem.devices; ++d) {
    const double free_ms = problem.bus_free_ms[problem.bus_of[d]] - start_ms;
    end_ms = std::min(end_ms, free_ms + problem.parameters[parameters].load_ms[d]);
  }
  return end_ms;
}

}  // namespace

LongestPaths longest_paths(const SubmodelProblem& problem, double start_ms) {
  const std::size_t count = problem.operators.size();
  std::vector<double> head_ms(count, 0), tail_ms(count, 0), loaded_ms(count, 0);
  const auto end_of = [&](std::size_t v) {
    const auto& op = problem.operators[v];
    return std::min(std::max(head_ms[v], loaded_ms[v]) + least(op.loaded_ms),
                    head_ms[v] + least(op.in_place_ms));
  };
  for (const auto& [u, v] : problem.edges) {  // by v, ascending
    if (problem.is_operator(u)) {
      head_ms[v] = std::max(head_ms[v], end_of(u));
    } else if (!problem.is_fixed(u)) {
      loaded_ms[v] = least_load_end_ms(problem, u - count, start_ms);
    } else if (!problem.is_loaded(u)) {
      const double there_ms = problem.fixed[u - problem.fixed_node(0)].finish_ms - start_ms;
      head_ms[v] = std::max(head_ms[v], there_ms);
    }
  }
  LongestPaths paths;
  paths.end_ms.resize(count);
  for (std::size_t v = count; v-- > 0;) {
    const auto& op = problem.operators[v];
    const double ms = std::min(least(op.loaded_ms), least(op.in_place_ms));
    paths.end_ms[v] = end_of(v);
    paths.latency_ms = std::max(paths.latency_ms, paths.end_ms[v] + tail_ms[v]);
    for (const auto& [u, to] : problem.edges) {
      if (to == v && problem.is_operator(u)) tail_ms[u] = std::max(tail_ms[u], ms + tail_ms[v]);
    }
  }
  return paths;
}

}  // namespace hios::scheduler::sortinghat
