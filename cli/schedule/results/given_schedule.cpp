#include "cli/schedule/results/given_schedule.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "cli/flags/model_flags.h"
#include "cli/process/output.h"
#include "hios/base/error.h"
#include "hios/evaluate/simulate.h"
#include "hios/evaluate/validate.h"
#include "hios/schedule/schedule_json.h"
#include "hios/schedule/weights_json.h"
#include "scheduler/bounds/bounds.h"
#include "scheduler/cold/cold_start_bound.h"
#include "scheduler/compare/throughput.h"

namespace hios::cli {
namespace {

/// Returns a pointer to a graph or costs that the inputs keep.
template <class Value>
std::shared_ptr<const Value> kept(const Value& value) {
  return std::shared_ptr<const Value>(std::shared_ptr<void>(), &value);
}

/// Returns the largest bound of the others' latency, or else one of this graph. Where the schedule
/// has resident parameters, the others' bound is none of it.
scheduler::LowerBound bound_of(const std::vector<scheduler::Row>& others,
                               const scheduler::Row& given) {
  const Graph& graph = *given.graph;
  const CostModel& costs = *given.costs;
  const auto& weights = given.schedule.weights;
  if (weights && !weights->resident.empty()) {
    return scheduler::cold_start_bound(graph, costs, {}, weights->resident);
  }
  const Objective wanted =
      given.objective == Objective::kColdStart ? Objective::kColdStart : Objective::kLatency;
  scheduler::LowerBound bound{-1, {}};
  for (const scheduler::Row& row : others) {
    const Prediction& predicted = row.predicted;
    if (row.refusal || row.objective != wanted || predicted.bound == "none") continue;
    if (predicted.lower_bound_ms <= bound.ms) continue;
    bound = {predicted.lower_bound_ms, predicted.bound};
  }
  if (bound.ms >= 0) return bound;
  return weights ? scheduler::cold_start_bound(graph, costs, {}, weights->resident)
                 : scheduler::lower_bound(graph, costs);
}

Prediction latency_of(const scheduler::Row& row, const scheduler::LowerBound& any) {
  const Timeline timeline = simulate(*row.graph, row.schedule, *row.costs);
  const scheduler::LowerBound bound = scheduler::snap_to_latency(any, timeline.latency_ms);
  if (bound.ms > timeline.latency_ms) {
    throw RunError("the lower bound (" + bound.name + ") is above the latency of " + row.given);
  }
  return {timeline.latency_ms, timeline.estimated_stages, bound.ms, bound.name};
}

}  // namespace

GivenFile read_given_file(const Flags& flags, const Common& common) {
  GivenFile given;
  given.name = flags.text("check");
  given.json = read_input(given.name, common.limits);
  ScheduleHead head = schedule_head(JsonView(*given.json, given.name));
  given.devices = Platform(std::move(head.devices));
  given.cuts = std::move(head.cuts);
  refuse_to_leave_whole(flags, given.name, given.cuts);
  return given;
}

Flags with_cuts_of(const GivenFile& given, const Flags& flags) {
  if (given.cuts.empty() || flags.given("cut") || !flags.given("model")) return flags;
  Flags with_cuts = flags.with({{"cut", given.name}});
  require_one_source(with_cuts);
  return with_cuts;
}

GivenSchedule read_given_schedule(const GivenFile& given, const ScheduleInputs& inputs) {
  const JsonView root(*given.json, given.name);
  if (const Network* const network = inputs.network())
    check_merge(root, network->coarse.graph, network->merge);
  std::shared_ptr<const Graph> graph = inputs.divided_as(root);
  if (!graph) graph = kept(inputs.graph());
  GivenSchedule read{schedule_from_json(root, *graph), std::move(graph)};
  if (inputs.platform().size() != read.file.devices.size()) {
    throw InputError(given.name + ": $.devices: the schedule has " +
                     std::to_string(read.file.devices.size()) + " devices, and " +
                     std::to_string(inputs.platform().size()) + " are given; give as many");
  }
  if (!read.file.schedule.weights) return read;
  const Topology* const topology = inputs.platform().topology();
  if (!topology) {
    throw InputError(
        given.name +
        ": $.weights: a cold start takes the routes of a platform; give --platform "
        "FILE, the one that the schedule was made for, or --objective cold-start where a "
        "--profile has its loads");
  }
  try {
    read.file = with_stores_of(*topology, std::move(read.file), given.name);
  } catch (const InputError& error) {
    throw InputError(std::string(error.what()) + ", or the --store of its --profile");
  }
  return read;
}

std::vector<std::string> show_findings(const std::string& name, const GivenSchedule& given,
                                       const Platform& devices) {
  std::vector<std::string> texts;
  for (const Finding& finding :
       validate(*given.graph, devices, given.file.schedule, given.file.objective)) {
    show(finding_line(name, finding) + "\n");
    texts.push_back(finding.text);
  }
  return texts;
}

scheduler::Row given_row(const GivenFile& from, const GivenSchedule& given, ScheduleInputs& inputs,
                         const scheduler::Problem& problem,
                         const std::vector<scheduler::Row>& others) {
  const bool cold = problem.objective() == Objective::kColdStart;
  if (cold != (given.file.objective == Objective::kColdStart)) {
    throw InputError(from.name + ": $.objective: the schedule is for " +
                     std::string(to_string(given.file.objective)) + ", and this compares " +
                     std::string(to_string(problem.objective())) +
                     "; give its objective by --objective");
  }
  const bool divided = given.graph->batching() != nullptr;
  scheduler::Row row{.algorithm = given.file.algorithm.empty() ? from.name : given.file.algorithm,
                     .requested = false,
                     .graph = given.graph,
                     .schedule = given.file.schedule,
                     .objective = given.file.objective,
                     .seconds = given.file.seconds,
                     .given = from.name};
  row.costs = divided ? std::make_shared<const CostModel>(inputs.costs_of(*given.graph))
                      : kept(inputs.costs());
  describe(row);
  row.predicted = latency_of(row, bound_of(others, row));
  if (problem.objective() != Objective::kThroughput) return row;
  row.many = row.predicted;
  predict_throughput(*row.many, problem, row.schedule);
  if (row.objective == Objective::kThroughput) row.predicted = *row.many;
  return row;
}

}  // namespace hios::cli
