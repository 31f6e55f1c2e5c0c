#include "scheduler/cuts/cut_network.h"

#include <algorithm>
#include <utility>

namespace hios::scheduler {

CutNetwork cut_network(const CuttableProblem& problem, const Cuts& cuts) {
  auto network = std::make_shared<const Network>(problem.cut(cuts));
  auto costs = std::make_shared<const CostModel>(problem.make_costs(network->coarse.graph));
  return {std::move(network), std::move(costs)};
}

Cuts cuts_of(const CuttableProblem& problem, const Taken& taken) {
  Cuts cuts;
  for (std::size_t i = 0; i < taken.size(); ++i) {
    if (taken[i]) cuts.push_back(problem.candidates[i]);
  }
  return cuts;
}

std::size_t networks_of_search(std::size_t operators) {
  constexpr std::size_t kOperatorSchedules = 120'000;
  return std::clamp<std::size_t>(kOperatorSchedules / (operators + 1), 16, 2000);
}

}  // namespace hios::scheduler
