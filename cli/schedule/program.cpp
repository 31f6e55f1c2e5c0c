#include "cli/schedule/program.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "cli/flags/flags.h"
#include "cli/process/output.h"
#include "cli/process/prepare.h"
#include "cli/process/stop_request.h"
#include "cli/schedule/check_schedule.h"
#include "cli/schedule/comparison.h"
#include "cli/schedule/exit_status.h"
#include "cli/schedule/inputs/graph_with_costs.h"
#include "cli/schedule/inputs/memory_need.h"
#include "cli/schedule/inputs/schedule_flags.h"
#include "cli/schedule/inputs/schedule_inputs.h"
#include "cli/schedule/lists.h"
#include "cli/schedule/objective.h"
#include "cli/schedule/period_table.h"
#include "cli/schedule/schedule_runs.h"
#include "cli/schedule/why_plan.h"
#include "engine/host/available_memory.h"
#include "hios/base/error.h"
#include "hios/base/log.h"
#include "hios/graph/graph_json.h"
#include "hios/model/model_json.h"
#include "hios/platform/platform_json.h"
#include "hios/report/draw_timeline.h"
#include "hios/schedule/schedule_json.h"

namespace hios::cli {
namespace {

using scheduler::Algorithm;
using scheduler::Request;
using scheduler::Row;

/// Returns the algorithms that --algorithm and --compare name, each once. A comparison includes
/// sequential and ios, and without --algorithm all.
std::vector<const Algorithm*> chosen_algorithms(const Flags& flags,
                                                const scheduler::Registry& registry) {
  const bool compare = flags.given("compare");
  const bool throughput = flags.text("objective") == to_string(Objective::kThroughput);
  std::vector<std::string> names;
  if (compare && flags.given("algorithm")) names = {"sequential", "ios"};
  if (compare && !flags.given("algorithm")) names = {"all"};
  if (flags.given("algorithm") || !compare) {
    for (std::string& name : flags.list("algorithm")) names.push_back(std::move(name));
  }
  std::vector<const Algorithm*> chosen;
  const auto choose = [&chosen](const Algorithm& algorithm) {
    if (std::find(chosen.begin(), chosen.end(), &algorithm) == chosen.end())
      chosen.push_back(&algorithm);
  };
  for (const std::string& name : names) {
    if (name != "all") {
      const Algorithm& algorithm = registry.find(name);
      if (algorithm.objective == Objective::kThroughput && !throughput) {
        throw InputError(name + " plans for throughput: give --objective throughput");
      }
      choose(algorithm);
      continue;
    }
    for (const Algorithm& algorithm : registry.all()) {
      if (throughput || algorithm.objective == Objective::kLatency) choose(algorithm);
    }
  }
  if (chosen.size() > 1 && (flags.given("output") || flags.given("timeline"))) {
    throw InputError(
        "--output and --timeline take one algorithm; --json and --csv compare several");
  }
  return chosen;
}

/// Gives each algorithm the --option words that it knows. Throws InputError for a word that none
/// knows.
std::vector<Request> read_options(const Flags& flags, const std::vector<const Algorithm*>& chosen) {
  std::vector<Request> requests;
  for (const Algorithm* algorithm : chosen)
    requests.push_back({algorithm, Options(algorithm->options)});
  std::set<std::string> keys;
  for (const std::string& word : flags.repeated("option")) {
    const std::string key = word.substr(0, word.find('='));
    if (!keys.insert(key).second) {
      throw InputError("--option gives " + quote(key) + " twice; remove one of the two");
    }
    bool known = false;
    for (Request& each : requests) {
      if (each.options.has(key)) each.options.set(word);
      known = known || each.options.has(key);
    }
    if (!known) requests.front().options.set(word);  // throws, and lists the names
  }
  return requests;
}

void write_results(const std::vector<Row>& rows, const std::vector<scheduler::PeriodRow>& bounds,
                   ScheduleInputs& inputs, const Settings& settings, const Common& common) {
  std::vector<std::string> planned;
  for (const Row& row : rows) {
    if (!row.refusal) planned.push_back(row.algorithm);
  }
  show(comparison_text(rows) + one_device_note(rows, inputs) + notes_text(inputs, planned) +
       period_bounds_text(bounds));
  const std::optional<PlanWhy> why = why_of_shortest(rows, inputs);
  if (why) show(why->text());
  if (common.csv) write_text(*common.csv, comparison_csv(rows).csv(), common.existing);
  if (!common.json) return;
  Json schedules = Json::array();
  for (const Row& row : rows) {
    if (row.graph) schedules.push_back(to_json(file_of(row, inputs, settings), *row.graph));
  }
  Json results = {{"comparison", comparison_json(rows)}, {"schedules", schedules}};
  if (!bounds.empty()) results["bounds"] = period_bounds_json(bounds);
  if (why) results["why"] = why->json();
  write_json(*common.json, results, common.existing);
}

/// Reads --algorithm, --compare and --option; nothing where the program only exports. Needs no
/// graph, so that a mistake shows before one is read or made.
std::vector<Request> read_requests(const Flags& flags, const scheduler::Registry& registry) {
  if (flags.given("export-model") && !flags.given("model")) {
    throw InputError("--export-model writes a --model; a graph has none");
  }
  const bool exports =
      flags.given("export-graph") || flags.given("export-platform") || flags.given("export-model");
  if (flags.given("algorithm") || flags.given("compare") || !exports) {
    return read_options(flags, chosen_algorithms(flags, registry));
  }
  for (const char* result : {"output", "timeline", "option", "json", "csv"}) {
    if (flags.given(result)) throw InputError(std::string("--") + result + " needs --algorithm");
  }
  return {};
}

/// Returns the work on the inputs, as far as it takes memory.
Work work_of(const Flags& flags, const Common& common, const std::vector<Request>& requests) {
  Work work{.json_schedules = common.json ? requests.size() : flags.given("output"),
            .exports_graph = flags.given("export-graph")};
  for (const Request& each : requests) {
    if (each.options.has("islands"))
      work.islands = static_cast<std::size_t>(each.options.integer("islands"));
    if (flags.given("timeline"))
      work.drawn = each.algorithm->many_devices ? Drawn::kAllDevices : Drawn::kOneDevice;
  }
  return work;
}

/// Returns the graph with the profile's costs, for every number of inputs at a time.
Graph exported_graph(const Flags& flags, ScheduleInputs& inputs) {
  if (!flags.given("profile")) return inputs.own_graph();
  if (!inputs.sized()) return graph_with_costs(inputs.costs());
  return graph_with_costs(*inputs.sized(),
                          [&](const Graph& graph) { return inputs.costs_of(graph); });
}

void write_exports(const Flags& flags, const Common& common, ScheduleInputs& inputs) {
  if (const auto file = flags.optional_text("export-graph")) {
    write_json(*file, to_json(exported_graph(flags, inputs)), common.existing);
  }
  if (const auto file = flags.optional_text("export-platform")) {
    write_json(*file, to_json(inputs.platform()), common.existing);
  }
  if (const auto file = flags.optional_text("export-model")) {
    write_json(*file, to_json(inputs.network()->model), common.existing);
  }
}

int schedule(const Flags& flags, const Common& common, const std::vector<Request>& requests,
             const Settings& settings, const RequestedBounds& bounds, ScheduleInputs& inputs) {
  const scheduler::Problem problem = inputs.problem(settings.objective);
  const StopRequest stop;  // until the results are written
  std::vector<Row> rows = compare(problem, requests, settings);
  const Stopwatch bounding;
  const scheduler::Deadline for_bounds(
      StopRequest::asked, [&] { return bounding.seconds(); }, bounds.time_limit_s);
  const std::vector<scheduler::PeriodRow> proven =
      raise_period_bounds(rows, problem, bounds.which, for_bounds);
  const bool all_done = rows.size() >= requests.size();
  write_exports(flags, common, inputs);  // not before: an algorithm may refuse the problem
  if (const auto file = flags.optional_text("output")) {
    const Row& row = rows.front();
    write_json(*file, to_json(file_of(row, inputs, settings), *row.graph), common.existing);
  }
  if (const auto file = flags.optional_text("timeline")) {
    const Row& row = rows.front();
    write_json(*file, planned_trace(*row.graph, row.schedule, *row.costs).json(), common.existing);
  }
  write_results(rows, proven, inputs, settings, common);
  if (!StopRequest::asked()) return 0;
  log::info("interrupted by " + signal_name(StopRequest::signal()) + ": the best so far was kept" +
            (all_done ? std::string()
                      : "; not started: " + std::to_string(requests.size() - rows.size()) +
                            " of the algorithms"));
  return exit_status_of_signal(StopRequest::signal());
}

int run(int argc, const char* const* argv, const scheduler::Registry& registry) {
  const Stopwatch since_start;
  Flags flags = schedule_program_flags();
  flags.parse(argc, argv);
  if (answered(flags, true)) return 0;
  Common common = read_common(flags, false);
  common.limits.memory = available_memory();
  if (flags.given("list-algorithms")) return list_algorithms(common, registry);
  if (flags.given("list-models")) return list_models(common);
  if (flags.given("list-operators")) {
    return list_operators(common,
                          load_network(flags, common.limits, element_bytes(Precision::kFp32)));
  }
  for (const NamedFile& file : flags.files()) {
    if (file.declared->is_written()) check_writable(file.name, common.existing);
  }
  require_one_source(flags);
  if (flags.given("check")) return check_schedule(flags, common);
  const std::vector<Request> requests = read_requests(flags, registry);
  const RequestedBounds bounds = read_bounds(flags);
  ScheduleInputs inputs(flags, common, work_of(flags, common, requests));
  const Settings settings{read_objective(flags, inputs), common.seed,
                          flags.number("time-limit", 0, 1e6), since_start};
  if (!requests.empty()) return schedule(flags, common, requests, settings, bounds, inputs);
  write_exports(flags, common, inputs);
  return 0;
}

}  // namespace

int schedule_program(int argc, const char* const* argv, const scheduler::Registry& registry) {
  prepare_process(argv[0]);
  return exit_status_of([&] { return run(argc, argv, registry); });
}

}  // namespace hios::cli
