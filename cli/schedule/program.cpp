#include "cli/schedule/program.h"

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "cli/flags/describe.h"
#include "cli/flags/flags.h"
#include "cli/process/commands.h"
#include "cli/process/output.h"
#include "cli/process/prepare.h"
#include "cli/process/stop_request.h"
#include "cli/schedule/check_schedule.h"
#include "cli/schedule/exit_status.h"
#include "cli/schedule/inputs/graph_with_costs.h"
#include "cli/schedule/inputs/requests.h"
#include "cli/schedule/inputs/schedule_flags.h"
#include "cli/schedule/inputs/schedule_inputs.h"
#include "cli/schedule/lists.h"
#include "cli/schedule/objective.h"
#include "cli/schedule/period_table.h"
#include "cli/schedule/results/given_schedule.h"
#include "cli/schedule/results/results.h"
#include "cli/schedule/results/sweep.h"
#include "cli/schedule/schedule_runs.h"
#include "cli/schedule/shared/serve.h"
#include "engine/host/available_memory.h"
#include "hios/base/error.h"
#include "hios/base/files/streams.h"
#include "hios/base/log.h"
#include "hios/graph/graph_json.h"
#include "hios/model/model_json.h"
#include "hios/platform/platform_json.h"
#include "hios/report/draw_timeline.h"
#include "hios/schedule/schedule_json.h"
#include "scheduler/best/best.h"

namespace hios::cli {
namespace {

using scheduler::Algorithm;
using scheduler::Request;
using scheduler::Row;

/// Throws InputError where --plot is given, with the command that draws.
void refuse_plot(const Flags& flags) {
  if (!flags.given("plot")) return;
  std::string command = "hios schedule";
  const std::vector<std::string>& words = flags.arguments();
  for (std::size_t i = 1; i < words.size(); ++i) command += " " + shell_word(words[i]);
  throw InputError("--plot draws by Matplotlib, which the command hios does: " + command);
}

/// Returns the work on the inputs, as far as it takes memory.
Work work_of(const Flags& flags, const Common& common, const std::vector<Request>& requests) {
  Work work{.json_schedules = common.json ? requests.size() : flags.given("output"),
            .exports_graph = flags.given("export-graph")};
  for (const Request& each : requests) {
    if (each.options.has("islands")) {
      const auto given = static_cast<std::size_t>(each.options.integer("islands"));
      work.islands = given > 0 ? given : scheduler::best::kIslands;
    }
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

/// The problem of one number of devices; all are made before the first schedule.
struct Planned {
  Flags flags;  ///< with this number
  std::unique_ptr<ScheduleInputs> inputs;
  std::optional<scheduler::Problem> problem = {};
  std::optional<GivenSchedule> given = {};
};

/// The command, as all numbers of devices have it.
struct PlanCommand {
  std::vector<Request> requests;
  RequestedBounds bounds;
  std::optional<GivenFile> given;
  TableForm form = TableForm::kText;
};

/// Returns true if the flags say which devices there are; else a given schedule's file does.
bool names_devices(const Flags& flags) {
  return std::ranges::any_of(
      std::array{"platform", "devices", "kind", "threads", "streams", "math"},
      [&](const char* flag) { return flags.written(flag); });
}

/// Returns one row for each algorithm; where all refuse this number of devices, their reasons.
std::vector<Row> rows_of_a_sweep(const scheduler::Problem& problem,
                                 const std::vector<Request>& requests, const Settings& settings) {
  try {
    return compare(problem, requests, settings);
  } catch (const InputError&) {
    std::vector<Row> rows;
    for (const Request& each : requests) {
      try {
        rows.push_back(compare(problem, {&each, 1}, settings).front());
      } catch (const InputError& error) {
        rows.push_back({.algorithm = each.algorithm->name, .refusal = error});
      }
    }
    return rows;
  }
}

Part plan(const Planned& planned, const PlanCommand& command, const Settings& settings,
          bool sweep) {
  const scheduler::Problem& problem = *planned.problem;
  Part part{planned.inputs.get(), sweep ? rows_of_a_sweep(problem, command.requests, settings)
                                        : compare(problem, command.requests, settings)};
  if (planned.given) {
    part.rows.push_back(
        given_row(*command.given, *planned.given, *planned.inputs, problem, part.rows));
  }
  const Stopwatch bounding;
  const scheduler::Deadline for_bounds(
      StopRequest::asked, [&] { return bounding.seconds(); }, command.bounds.time_limit_s);
  part.bounds = raise_period_bounds(part.rows, problem, command.bounds.which, for_bounds);
  return part;
}

/// Writes the files of one schedule. A row without a schedule has none.
void write_schedule(const Flags& flags, const Common& common, const Row& row,
                    const ScheduleInputs& inputs, const Settings& settings) {
  if (!row.graph) return;
  if (const auto file = flags.optional_text("output")) {
    write_json(*file, to_json(file_of(row, inputs, settings), *row.graph), common.existing);
  }
  if (const auto file = flags.optional_text("timeline")) {
    write_json(*file, planned_trace(*row.graph, row.schedule, *row.costs).json(), common.existing);
  }
}

/// Returns the number of algorithms that a stop request has left out.
std::size_t not_started(const std::vector<Part>& parts, std::size_t problems,
                        std::size_t algorithms) {
  std::size_t started = 0;
  for (const Part& part : parts)
    started += static_cast<std::size_t>(std::ranges::count(part.rows, true, &Row::requested));
  return problems * algorithms - started;
}

/// Throws the last refusal, with the numbers of devices, where there is no schedule for any of
/// them.
void require_a_schedule(const Flags& flags, const std::vector<Part>& parts) {
  const Row* last = nullptr;
  for (const Part& part : parts) {
    for (const Row& row : part.rows) {
      if (!row.refusal) return;
      last = &row;
    }
  }
  if (!last) return;
  throw InputError("with --devices " + flags.text("devices") + ": " + last->refusal->what(),
                   last->refusal->need());
}

int schedule(const Flags& flags, const Common& common, const std::vector<Planned>& planned,
             const PlanCommand& command, Settings settings) {
  const StopRequest stop;  // until the results are written
  std::vector<Part> parts;
  for (const Planned& each : planned) {
    if (!parts.empty()) {
      if (StopRequest::asked()) break;
      settings.since_start = {};
    }
    parts.push_back(plan(each, command, settings, planned.size() > 1));
  }
  require_a_schedule(flags, parts);
  write_exports(flags, common, *planned.front().inputs);  // not before: all may refuse the problem
  for (std::size_t i = 0; i < parts.size(); ++i) {
    write_schedule(planned[i].flags, common, parts[i].rows.front(), *parts[i].inputs, settings);
  }
  write_results(parts, flags, common, settings, command.form);
  if (!StopRequest::asked()) return 0;
  const std::size_t left = not_started(parts, planned.size(), command.requests.size());
  log::info("interrupted by " + signal_name(StopRequest::signal()) + ": the best so far was kept" +
            (left == 0 ? std::string()
                       : "; not started: " + std::to_string(left) + " of the algorithms"));
  return exit_status_of_signal(StopRequest::signal());
}

/// Makes something for a number of devices. Throws its InputError with that number, if the command
/// has several.
void make_for(const Flags& flags, bool sweep, const std::function<void()>& make) {
  try {
    make();
  } catch (const InputError& error) {
    if (!sweep) throw;
    throw InputError("with --devices " + flags.text("devices") + ": " + error.what(), error.need());
  }
}

/// Reads the problems of all numbers of devices. A given schedule belongs to its own number.
std::vector<Planned> read_problems(const std::vector<Flags>& parts, const Common& common,
                                   const PlanCommand& command) {
  std::vector<Planned> planned;
  for (const Flags& part : parts) {
    const Flags flags = command.given ? with_cuts_of(*command.given, part) : part;
    std::optional<Platform> own;
    if (command.given && !names_devices(flags)) own = command.given->devices;
    Planned& made = planned.emplace_back(Planned{flags, nullptr});
    make_for(flags, parts.size() > 1, [&] {
      made.inputs = std::make_unique<ScheduleInputs>(flags, common,
                                                     work_of(flags, common, command.requests), own);
    });
    const std::size_t devices = made.inputs->platform().size();
    if (command.given && (parts.size() == 1 || devices == command.given->devices.size()))
      made.given = read_given_schedule(*command.given, *made.inputs);
  }
  const auto has_given = [](const Planned& each) { return each.given.has_value(); };
  if (command.given && std::ranges::none_of(planned, has_given)) {
    throw InputError(command.given->name + ": $.devices: the schedule has " +
                     std::to_string(command.given->devices.size()) +
                     " devices, and --devices lists other numbers: add this one");
  }
  return planned;
}

/// Prints what is wrong with the given schedule. Returns true if nothing is.
bool given_is_valid(const std::vector<Planned>& planned, const PlanCommand& command) {
  bool valid = true;
  for (const Planned& each : planned) {
    if (!each.given) continue;
    valid =
        show_findings(command.given->name, *each.given, each.inputs->platform()).empty() && valid;
  }
  return valid;
}

int list(const Flags& flags, const Common& common, const scheduler::Registry& registry) {
  for (const char* form : {"markdown", "latex"}) {
    if (flags.given(form))
      throw InputError(std::string("--") + form + " prints the table of schedules: leave it out");
  }
  if (flags.given("list-algorithms")) return list_algorithms(common, registry);
  if (flags.given("list-models")) return list_models(common);
  return list_operators(common,
                        load_network(flags, common.limits, element_bytes(Precision::kFp32)));
}

/// Reads standard input where a flag names it. Returns true if so: the program before this one in
/// the pipe may have taken longer than the time limit.
bool waited_for_input(const Flags& flags, const Common& common) {
  const bool reads = std::ranges::any_of(flags.files(), [](const NamedFile& file) {
    return !file.declared->is_written() && is_standard_input(file.name);
  });
  if (reads) standard_input(common.limits);
  return reads;
}

int run(int argc, const char* const* argv, const scheduler::Registry& registry) {
  Stopwatch since_start;
  Flags flags = schedule_program_flags();
  flags.add_values("algorithm", registry.names());
  if (asks_for_description(argc, argv)) return describe(flags);
  flags.parse(argc, argv);
  if (answered(flags, true)) return 0;
  refuse_plot(flags);
  Common common = read_common(flags, false);
  common.limits.memory = available_memory();
  for (const char* what : {"list-algorithms", "list-models", "list-operators"}) {
    if (flags.given(what)) return list(flags, common, registry);
  }
  if (flags.given("models")) {
    if (waited_for_input(flags, common)) since_start = {};
    return serve_models(flags, common, registry, since_start);
  }
  for (const char* of_server : {"shares", "keep"}) {
    if (flags.given(of_server))
      throw InputError(std::string("--") + of_server + " goes with --models A,B: give it, too");
  }
  const std::vector<Flags> parts = flags_by_devices(flags);
  for (const Flags& part : parts) {
    for (const NamedFile& file : part.files()) {
      if (file.declared->is_written()) check_writable(file.name, common.existing);
    }
  }
  require_one_source(flags);
  if (flags.given("check") && !flags.given("compare")) return check_schedule(flags, common);
  PlanCommand command{
      read_requests(flags, registry), read_bounds(flags), {}, read_table_form(flags)};
  if (waited_for_input(flags, common)) since_start = {};
  if (flags.given("check")) command.given = read_given_file(flags, common);
  std::vector<Planned> planned = read_problems(parts, common, command);
  const Objective objective = read_objective(flags, *planned.front().inputs);
  const Settings settings{objective, common.seed, flags.number("time-limit", 0, 1e6), since_start};
  if (command.requests.empty()) {
    write_exports(flags, common, *planned.front().inputs);
    return 0;
  }
  for (Planned& each : planned) {
    make_for(each.flags, planned.size() > 1,
             [&] { each.problem.emplace(each.inputs->problem(objective)); });
  }
  if (!given_is_valid(planned, command)) return static_cast<int>(ExitCode::kBadInput);
  return schedule(flags, common, planned, command, settings);
}

}  // namespace

int schedule_program(int argc, const char* const* argv, const scheduler::Registry& registry) {
  prepare_process(argc, argv);
  return exit_status_of([&] { return run(argc, argv, registry); });
}

}  // namespace hios::cli
