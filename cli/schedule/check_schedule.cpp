#include "cli/schedule/check_schedule.h"

#include <nlohmann/json.hpp>

#include "cli/process/output.h"
#include "cli/schedule/comparison.h"
#include "cli/schedule/inputs/memory_need.h"
#include "cli/schedule/inputs/schedule_inputs.h"
#include "cli/schedule/results/given_schedule.h"
#include "cli/schedule/results/results.h"
#include "cli/schedule/why_plan.h"
#include "cli/table.h"
#include "hios/evaluate/simulate.h"
#include "hios/report/draw_timeline.h"
#include "hios/schedule/schedule_json.h"
#include "scheduler/bounds/bounds.h"
#include "scheduler/cold/cold_start_bound.h"
#include "scheduler/compare/throughput.h"

namespace hios::cli {

namespace {

constexpr const char* kCheckFormat = "hios-check";

std::string valid_text(const std::string& name, const ScheduleFile& file,
                       const Prediction& predicted) {
  std::string text = name + ": valid, " + file.algorithm + " on " +
                     std::to_string(scheduler::devices_used(file.schedule)) + " of " +
                     std::to_string(file.devices.size()) + " devices, simulated latency " +
                     fixed(predicted.latency_ms, 3) + " ms";
  if (predicted.estimated_stages > 0)
    text += " (" + std::to_string(predicted.estimated_stages) + " stages estimated)";
  if (file.has_prediction) text += ", its file says " + fixed(file.predicted.latency_ms, 3) + " ms";
  if (const auto& many = predicted.throughput) {
    text += "; " + fixed(many->period_ms, 3) + " ms from one inference to the next, " +
            std::to_string(many->in_flight) + " in flight, bottleneck " + many->bottleneck;
    if (file.has_prediction && file.predicted.throughput) {
      text += ", its file says " + fixed(file.predicted.throughput->period_ms, 3) + " ms";
    }
  }
  return text + "; lower bound " + fixed(predicted.lower_bound_ms, 3) + " ms (" + predicted.bound +
         "), gap " + percent(predicted.gap()) + "\n";
}

/// Returns the prediction of the file's schedule with the costs of this command.
Prediction predict(const ScheduleFile& file, const ScheduleInputs& inputs, const Graph& graph,
                   const CostModel& costs) {
  const Timeline timeline = simulate(graph, file.schedule, costs);
  if (file.objective == Objective::kThroughput) {
    Prediction predicted{timeline.latency_ms, timeline.estimated_stages, 0, "none",
                         inputs.extrapolated_from()};
    const scheduler::Problem problem(costs, Objective::kThroughput, inputs.inputs());
    scheduler::predict_throughput(predicted, problem, file.schedule);
    return predicted;
  }
  const auto& weights = file.schedule.weights;
  scheduler::LowerBound any = weights
                                  ? scheduler::cold_start_bound(graph, costs, {}, weights->resident)
                                  : scheduler::lower_bound(graph, costs);
  const scheduler::LowerBound bound =
      scheduler::snap_to_latency(std::move(any), timeline.latency_ms);
  if (bound.ms > timeline.latency_ms) {
    throw RunError("the lower bound (" + bound.name + ") is above the schedule's latency");
  }
  const std::string whose = graph.batching() ? " of this division" : "";
  return {timeline.latency_ms, timeline.estimated_stages, bound.ms, bound.name + whose,
          inputs.extrapolated_from()};
}

/// Returns one row, in which findings are their number. `head`: columns of the problem.
Table csv(const Json& result, const std::vector<std::pair<std::string, std::string>>& head) {
  std::vector<std::string> columns = {"schedule", "valid", "latency_ms",      "lower_bound_ms",
                                      "bound",    "gap",   "estimated_stages"};
  std::vector<std::string> row;
  for (const std::string& column : columns) row.push_back(csv_text(result.value(column, Json())));
  columns.emplace_back("findings");
  row.push_back(std::to_string(result["findings"].size()));
  columns.emplace_back("devices");
  row.push_back(std::to_string(result["devices"].size()));
  for (const auto& [name, value] : head) {
    columns.push_back(name);
    row.push_back(value);
  }
  Table table(std::move(columns));
  table.add(std::move(row));
  return table;
}

/// Adds the numbers of a valid schedule.
void add_prediction(Json& result, const Prediction& predicted) {
  result["latency_ms"] = predicted.latency_ms;
  result["estimated_stages"] = predicted.estimated_stages;
  result["lower_bound_ms"] = predicted.lower_bound_ms;
  result["bound"] = predicted.bound;
  result["gap"] = predicted.gap();
  if (const auto& many = predicted.throughput) {
    result["period_ms"] = many->period_ms;
    result["in_flight"] = many->in_flight;
  }
}

/// Throws InputError where --devices says anything but the number in the file.
void require_own_devices(const Flags& flags, const GivenFile& given) {
  const std::string own = std::to_string(given.devices.size());
  if (!flags.written("devices") || flags.text("devices") == own) return;
  throw InputError(given.name + ": $.devices: the schedule has " + own +
                   " devices, and --devices says " + flags.text("devices") +
                   ": leave it out, or give --compare as well for plans of other numbers");
}

}  // namespace

int check_schedule(const Flags& flags, const Common& common) {
  for (const char* other : {"algorithm", "output", "option", "export-graph", "export-platform",
                            "export-model", "markdown", "latex"}) {
    if (flags.given(other))
      throw InputError(std::string("--check and --") + other + " exclude each other");
  }
  const GivenFile given = read_given_file(flags, common);
  require_own_devices(flags, given);
  const Work work{.drawn = flags.given("timeline") ? Drawn::kAllDevices : Drawn::kNothing};
  ScheduleInputs inputs(with_cuts_of(given, flags), common, work, given.devices);
  const GivenSchedule schedule = read_given_schedule(given, inputs);
  const Graph& graph = *schedule.graph;
  const ScheduleFile& file = schedule.file;
  // Weights are simulated with the platform's memory and the times by its devices' names.
  const Platform devices =
      file.schedule.weights ? inputs.platform() : inputs.platform().with_devices(file.devices);
  const std::vector<std::string> findings = show_findings(given.name, schedule, devices);
  Json result = head_json(kCheckFormat, flags, common, inputs);
  result["schedule"] = given.name;
  result["valid"] = findings.empty();
  result["findings"] = findings;
  if (findings.empty()) {
    const CostModel costs = inputs.costs_of(graph, file.objective);
    const Prediction predicted = predict(file, inputs, graph, costs);
    show(valid_text(given.name, file, predicted) + notes_text(inputs, {file.algorithm}));
    add_prediction(result, predicted);
    if (file.objective != Objective::kThroughput) {
      const PlanWhy why = why_of(file.algorithm, graph, costs, file.schedule,
                                 {predicted.lower_bound_ms, predicted.bound}, inputs);
      show(why.text());
      result["why"] = why.json();
    }
    if (const auto trace = flags.optional_text("timeline")) {
      write_json(*trace, planned_trace(graph, file.schedule, costs).json(), common.existing);
    }
  }
  if (common.json) write_json(*common.json, result, common.existing);
  if (common.csv) {
    const auto head = head_columns(kCheckFormat, flags, common, inputs);
    write_text(*common.csv, csv(result, head).csv(), common.existing);
  }
  return findings.empty() ? 0 : static_cast<int>(ExitCode::kBadInput);
}

}  // namespace hios::cli
