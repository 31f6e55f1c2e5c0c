#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "hios/base/numbers/random.h"
#include "scheduler/cold/sortinghat/planned_submodels.h"
#include "support/graphs/cold_cases.h"
#include "support/graphs/dag_generator.h"

namespace hios::scheduler::sortinghat {

/// A random submodel, and everything that it refers to.
struct SubmodelCase {
  SubmodelCase(std::uint64_t seed, std::size_t operators, std::size_t subgraphs) : random(seed) {
    const bool whole_numbers = seed % 2 == 0;
    test::CostStyle style{.overlap = false, .small_integers = seed % 3 == 0};
    graph = test::with_parameters(
        test::dag(operators, random.below(std::size_t{1} << (operators * (operators - 1) / 2)),
                  style, random),
        whole_numbers, random);
    platform.emplace(test::random_topology(2, 1, whole_numbers, random));
    costs.emplace(CostModel::from_graph(graph, *platform));
    paths.emplace(graph, *costs, PathRules{});
    planned.emplace(graph, *costs, *paths, subgraphs);
  }
  SubmodelProblem problem() const {
    return planned->next({graph.topological().begin(), graph.topological().end()});
  }

  Random random;
  Graph graph;
  std::optional<Platform> platform;
  std::optional<CostModel> costs;
  std::optional<Paths> paths;
  std::optional<PlannedSubmodels> planned;
};

}  // namespace hios::scheduler::sortinghat
