#pragma once

#include <gtest/gtest.h>

#include "hios/evaluate/simulate.h"
#include "hios/evaluate/validate.h"
#include "hios/graph/random/random_dag.h"
#include "scheduler/algorithms/list/heft.h"
#include "scheduler/bounds/bounds.h"

namespace hios::scheduler::best {

/// Returns the latency of a start, make(costs). EXPECTs that it is valid, and not below the bound.
template <class Make>
double start_ms(const RandomProblem& problem, const Make& make) {
  const CostModel costs = CostModel::from_graph(problem.graph, problem.platform);
  const Schedule schedule = make(costs);
  EXPECT_TRUE(validate(problem.graph, problem.platform, schedule).empty());
  const double ms = simulate(problem.graph, schedule, costs).latency_ms;
  EXPECT_GE(ms, lower_bound(problem.graph, costs).ms * (1 - 1e-9));
  return ms;
}

inline double heft_ms(const RandomProblem& problem) {
  return start_ms(problem, [&](const CostModel& costs) {
    return schedule_heft(problem.graph, costs, {}, {}).schedule;
  });
}

}  // namespace hios::scheduler::best
