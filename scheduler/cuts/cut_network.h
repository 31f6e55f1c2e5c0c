#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "hios/graph/network.h"
#include "scheduler/problem.h"

/// Networks with some of their operators cut, as searches make them one after the other.
namespace hios::scheduler {

/// By CuttableProblem::candidates: true for those that are taken.
using Taken = std::vector<bool>;

/// A network with some operators cut, and its costs. Copies share.
struct CutNetwork {
  std::shared_ptr<const Network> network;
  std::shared_ptr<const CostModel> costs;
  const Graph& graph() const { return network->coarse.graph; }
};

/// Throws InputError if a cost is missing.
CutNetwork cut_network(const CuttableProblem& problem, const Cuts& cuts);

/// Returns the candidates that are taken.
Cuts cuts_of(const CuttableProblem& problem, const Taken& taken);

/// Returns the number of networks that a search makes and schedules, for schedules of so many
/// operators: it takes about three seconds.
std::size_t networks_of_search(std::size_t operators);

}  // namespace hios::scheduler
