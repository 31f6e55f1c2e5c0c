#include "scheduler/batches/divisible.h"

#include <algorithm>
#include <utility>

#include "hios/base/error.h"
#include "hios/evaluate/simulate.h"
#include "hios/evaluate/validate.h"

namespace hios::scheduler {
namespace {

/// REQUIRES: all batches belong to the graph.
Schedule schedule_of(const Graph& divided, const BatchStages& devices) {
  const std::vector<Batch>& batches = divided.batching()->batches;
  const auto vertex = [&](const Batch& batch) {
    const auto at = std::lower_bound(batches.begin(), batches.end(), batch);
    return OpId(static_cast<std::size_t>(at - batches.begin()));
  };
  Schedule schedule;
  for (const auto& stages : devices) {
    auto& device = schedule.devices.emplace_back();
    for (const auto& groups : stages) {
      Stage& stage = device.emplace_back();
      for (const auto& group : groups) {
        Group& ops = stage.groups.emplace_back();
        for (const Batch& batch : group) ops.push_back(vertex(batch));
      }
    }
  }
  return schedule;
}

}  // namespace

Division make_division(const DivisibleProblem& problem, std::vector<Batch> batches) {
  auto graph = std::make_shared<const Graph>(divide(*problem.graphs, std::move(batches)));
  auto costs = std::make_shared<const CostModel>(problem.make_costs(*graph));
  return {std::move(graph), std::move(costs)};
}

BatchStages batch_stages(const Graph& divided, const Schedule& schedule) {
  BatchStages devices;
  for (const auto& stages : schedule.devices) {
    auto& device = devices.emplace_back();
    for (const Stage& stage : stages) {
      auto& groups = device.emplace_back();
      for (const Group& group : stage.groups) {
        auto& batches = groups.emplace_back();
        for (const OpId op : group) batches.push_back(divided.batch(op));
      }
    }
  }
  return devices;
}

std::optional<TimedDivision> timed(const DivisibleProblem& problem, const BatchStages& stages) {
  std::vector<Batch> batches;
  for (const auto& device : stages) {
    for (const auto& groups : device) {
      for (const auto& group : groups) batches.insert(batches.end(), group.begin(), group.end());
    }
  }
  TimedDivision made;
  try {
    made.division = make_division(problem, std::move(batches));
  } catch (const InputError&) {
    return std::nullopt;
  }
  const Graph& graph = *made.division.graph;
  made.schedule = schedule_of(graph, stages);
  if (!validate(graph, *problem.platform, made.schedule).empty()) return std::nullopt;
  made.latency_ms = simulate(graph, made.schedule, *made.division.costs).latency_ms;
  return made;
}

}  // namespace hios::scheduler
