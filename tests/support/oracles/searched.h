#pragma once

#include <gtest/gtest.h>

#include "hios/evaluate/simulate.h"
#include "hios/evaluate/validate.h"
#include "scheduler/best/best.h"
#include "scheduler/bounds/bounds.h"
#include "support/oracles/brute_force.h"

namespace hios::scheduler::best {

inline constexpr std::int64_t kEndings = 3000;

/// Runs `best` with a budget of moves. Expects a valid result with simulate()'s latency, not below
/// the bound.
inline BestResult search_for(const CostModel& costs, std::int64_t iterations,
                             std::size_t threads = 1, const Context& context = {}) {
  BestOptions options;
  options.iterations = iterations;
  options.threads = threads;
  options.max_endings = kEndings;
  const Graph& graph = costs.graph();
  const double bound = lower_bound(graph, costs).ms;
  BestResult result = search(graph, costs, options, bound, context);
  EXPECT_TRUE(validate(graph, costs.platform(), result.schedule).empty());
  EXPECT_EQ(result.latency_ms, simulate(graph, result.schedule, costs).latency_ms);
  EXPECT_GE(result.latency_ms, bound * (1 - test::kOracleRounding));
  return result;
}

}  // namespace hios::scheduler::best
