#include "hios/schedule/schedule.h"

namespace hios {

std::vector<Stage> one_operator_stages(const std::vector<OpId>& order) {
  std::vector<Stage> stages;
  stages.reserve(order.size());
  for (const OpId op : order) stages.push_back(Stage{{Group{op}}});
  return stages;
}

std::vector<std::vector<std::string>> operator_names(const Graph& graph, const Stage& stage) {
  std::vector<std::vector<std::string>> names;
  for (const Group& group : stage.groups) {
    std::vector<std::string>& of_group = names.emplace_back();
    for (const OpId op : group) of_group.push_back(graph.op(op).name);
  }
  return names;
}

std::string_view to_string(Objective objective) {
  switch (objective) {
    case Objective::kThroughput:
      return "throughput";
    case Objective::kColdStart:
      return "cold-start";
    case Objective::kLatency:
      break;
  }
  return "latency";
}

std::string_view to_string(Outcome outcome) {
  switch (outcome) {
    case Outcome::kOptimal:
      return "optimal";
    case Outcome::kInfeasible:
      return "infeasible";
    case Outcome::kTimeLimit:
      return "time_limit";
    case Outcome::kFeasible:
      break;
  }
  return "feasible";
}

}  // namespace hios
