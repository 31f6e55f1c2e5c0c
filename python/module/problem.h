#pragma once

#include <nanobind/nanobind.h>

#include <memory>

#include "hios/evaluate/cost_model.h"
#include "hios/graph/graph.h"
#include "hios/platform/platform.h"

namespace hios::python {

/// A graph and its own costs on a platform. Python may drop the three in any order.
struct SharedProblem {
  /// Throws InputError as CostModel::from_graph() does, and where the costs would take too much
  /// memory.
  SharedProblem(std::shared_ptr<Graph> the_graph, std::shared_ptr<Platform> the_platform);

  std::shared_ptr<Graph> graph;
  std::shared_ptr<Platform> platform;
  CostModel costs;
};

void bind_problem(nanobind::module_& module);

}  // namespace hios::python
