// hios-schedule: plans on any machine, without MPI and without devices.

#include <chrono>
#include <cstdio>
#include <iostream>

#include "cli/finding_line.h"
#include "cli/flags.h"
#include "cli/list_models.h"
#include "cli/planned_trace.h"
#include "cli/priced_graph.h"
#include "cli/schedule_inputs.h"
#include "cli/table.h"
#include "hios/error.h"
#include "hios/graph_io.h"
#include "hios/log.h"
#include "hios/simulate.h"
#include "hios/validate.h"
#include "scheduler/scheduler.h"

namespace hios::cli {
namespace {

namespace po = boost::program_options;
using scheduler::Algorithm;
using scheduler::ScheduleResult;

po::options_description schedule_flags() {
  po::options_description group("Schedule", 100, 45);
  group.add_options()("algorithm", value("NAME[,NAME...]|all"),
                      "which schedulers (--list-algorithms)");
  group.add_options()("option", po::value<std::vector<std::string>>()->value_name("KEY=VALUE"),
                      "of the algorithms, again and again: window=4");
  group.add_options()("time-limit", value("SECONDS")->default_value("10"),
                      "for each algorithm; the best found counts");
  group.add_options()("output", value("FILE"), "write the schedule (one algorithm)");
  group.add_options()("check", value("SCHEDULE"), "validate and simulate an existing schedule");
  group.add_options()("export-graph", value("FILE"), "write the graph with its costs");
  group.add_options()("timeline", value("FILE"), "write the plan as a Chrome trace (Perfetto)");
  group.add_options()("list-algorithms", "print the schedulers and their options")(
      "list-models", "print the built-in networks");
  return group;
}

int list_algorithms() {
  for (const Algorithm& algorithm : scheduler::all()) {
    std::printf("%-12s %s\n", std::string(algorithm.name).c_str(),
                std::string(algorithm.description).c_str());
    std::printf("             %s, %s; %s\n",
                algorithm.many_devices ? "several devices" : "one device",
                algorithm.streams ? "several streams" : "one stream",
                std::string(algorithm.constraints).c_str());
    const std::string help = Options(algorithm.options).help();
    for (const std::string& line : split(help, '\n')) {
      if (!line.empty()) std::printf("             %s\n", line.c_str());
    }
  }
  return 0;
}

std::vector<const Algorithm*> chosen_algorithms(const Flags& flags) {
  std::vector<const Algorithm*> chosen;
  for (const std::string& name : flags.list("algorithm")) {
    if (name == "all") {
      for (const Algorithm& algorithm : scheduler::all()) chosen.push_back(&algorithm);
    } else {
      chosen.push_back(&scheduler::find(name));
    }
  }
  if (chosen.size() > 1 && (flags.given("output") || flags.given("timeline"))) {
    throw InputError(
        "--output and --timeline take one algorithm; --json and --csv compare several");
  }
  return chosen;
}

/// Every word must fit at least one of the chosen algorithms; each gets those that it knows.
std::vector<Options> read_options(const Flags& flags, const std::vector<const Algorithm*>& chosen) {
  std::vector<Options> options;
  for (const Algorithm* algorithm : chosen) options.emplace_back(algorithm->options);
  for (const std::string& word : flags.repeated("option")) {
    const std::string key = word.substr(0, word.find('='));
    bool known = false;
    for (Options& each : options) {
      if (each.has(key)) each.set(word);
      known = known || each.has(key);
    }
    if (!known) options.front().set(word);  // says which names there are
  }
  return options;
}

struct Run {
  ScheduleFile file;
  ScheduleResult result;
};

Run run_algorithm(const Algorithm& algorithm, const Options& options, Problem& problem,
                  double time_limit_s, std::uint64_t seed) {
  using Clock = std::chrono::steady_clock;
  const CostModel& costs = problem.costs();
  const auto start = Clock::now();
  const auto seconds = [start] {
    return std::chrono::duration<double>(Clock::now() - start).count();
  };
  scheduler::Context context;
  context.seed = seed;
  context.out_of_time = [&seconds, time_limit_s] { return seconds() > time_limit_s; };
  Run run{problem.blank_file(),
          algorithm.run(problem.graph(), costs, problem.platform(), options, context)};
  run.file.seconds = seconds();
  run.file.algorithm = algorithm.name;
  run.file.options = run.result.options.non_defaults();
  run.file.outcome = run.result.outcome;
  run.file.schedule = run.result.schedule;
  run.file.predicted = {run.result.latency_ms, run.result.estimated_stages,
                        run.result.lower_bound_ms, run.result.bound};
  const auto findings = validate(problem.graph(), problem.platform(), run.file.schedule);
  if (!findings.empty()) {
    throw RunError(std::string(algorithm.name) +
                   " made a schedule that breaks a rule: " + findings.front().text);
  }
  return run;
}

std::size_t devices_used(const Schedule& schedule) {
  std::size_t used = 0;
  for (const auto& stages : schedule.devices) used += !stages.empty();
  return used;
}

Table comparison(const std::vector<Run>& runs) {
  Table table({"algorithm", "latency ms", "lower bound ms", "gap", "devices", "estimated stages",
               "outcome", "seconds"});
  for (const Run& run : runs) {
    const Prediction& predicted = run.file.predicted;
    table.add({run.file.algorithm, fixed(predicted.latency_ms, 3),
               fixed(predicted.lower_bound_ms, 3) + " " + predicted.bound, percent(predicted.gap()),
               std::to_string(devices_used(run.file.schedule)),
               std::to_string(predicted.estimated_stages), std::string(to_string(run.file.outcome)),
               fixed(run.file.seconds, 4)});
  }
  return table;
}

/// The same for scripts: plain numbers, one value a cell.
Table comparison_csv(const std::vector<Run>& runs) {
  Table table({"algorithm", "latency_ms", "lower_bound_ms", "bound", "gap", "devices_used",
               "estimated_stages", "outcome", "seconds"});
  for (const Run& run : runs) {
    const Prediction& predicted = run.file.predicted;
    table.add({run.file.algorithm, exact(predicted.latency_ms), exact(predicted.lower_bound_ms),
               predicted.bound, exact(predicted.gap()),
               std::to_string(devices_used(run.file.schedule)),
               std::to_string(predicted.estimated_stages), std::string(to_string(run.file.outcome)),
               exact(run.file.seconds)});
  }
  return table;
}

void write_results(const std::vector<Run>& runs, const Problem& problem, const Common& common) {
  show(comparison(runs).text());
  if (common.csv) write_text(*common.csv, comparison_csv(runs).csv(), common.existing);
  if (!common.json) return;
  Json schedules = Json::array();
  for (const Run& run : runs) schedules.push_back(to_json(run.file, problem.graph()));
  write_json(*common.json, {{"schedules", schedules}}, common.existing);
}

int schedule(const Flags& flags, const Common& common, Problem& problem) {
  const std::vector<const Algorithm*> chosen = chosen_algorithms(flags);
  const std::vector<Options> options = read_options(flags, chosen);
  const double time_limit_s = flags.number("time-limit", 0, 1e6);
  std::vector<Run> runs;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    runs.push_back(run_algorithm(*chosen[i], options[i], problem, time_limit_s, common.seed));
  }
  if (const auto file = flags.optional_text("output")) {
    write_json(*file, to_json(runs.front().file, problem.graph()), common.existing);
  }
  if (const auto file = flags.optional_text("timeline")) {
    write_json(*file, planned_trace(problem.graph(), runs.front().file, problem.costs()).json(),
               common.existing);
  }
  write_results(runs, problem, common);
  return 0;
}

std::string simulated_text(const std::string& name, const ScheduleFile& file,
                           const Timeline& timeline) {
  std::string text = name + ": valid, " + file.algorithm + " on " +
                     std::to_string(devices_used(file.schedule)) + " of " +
                     std::to_string(file.devices.size()) + " devices, simulated latency " +
                     fixed(timeline.latency_ms, 3) + " ms";
  if (timeline.estimated_stages > 0)
    text += " (" + std::to_string(timeline.estimated_stages) + " stages estimated)";
  if (file.has_prediction) text += ", its file says " + fixed(file.predicted.latency_ms, 3) + " ms";
  return text + "\n";
}

/// Any author's schedule: all findings, or its simulated latency where there are costs. It is
/// priced on the devices that it names.
int check(const Flags& flags, const Common& common) {
  for (const char* other : {"algorithm", "output", "csv", "option"}) {
    if (flags.given(other))
      throw InputError(std::string("--check and --") + other + " exclude each other");
  }
  const std::string name = flags.text("check");
  const Json json = read_json(name, common.limits);
  const JsonView root(json, name);
  Problem problem(flags, common, Platform(schedule_head(root).devices));
  const ScheduleFile file = schedule_from_json(root, problem.graph());
  const auto findings = validate(problem.graph(), Platform(file.devices), file.schedule);
  Json listed = Json::array();
  for (const Finding& finding : findings) {
    show(finding_line(name, finding) + "\n");
    listed.push_back(finding.text);
  }
  Json result = {{"schedule", name}, {"valid", findings.empty()}, {"findings", listed}};
  if (findings.empty()) {
    const Timeline timeline = simulate(problem.graph(), file.schedule, problem.costs());
    show(simulated_text(name, file, timeline));
    result["latency_ms"] = timeline.latency_ms;
    result["estimated_stages"] = timeline.estimated_stages;
    if (const auto trace = flags.optional_text("timeline")) {
      write_json(*trace, planned_trace(problem.graph(), file, problem.costs()).json(),
                 common.existing);
    }
  }
  if (common.json) write_json(*common.json, result, common.existing);
  return findings.empty() ? 0 : static_cast<int>(ExitCode::kBadInput);
}

int run(int argc, char** argv) {
  Flags flags("hios-schedule", "plan a network's operators over devices and streams");
  flags.add(model_flags()).add(problem_flags()).add(schedule_flags()).add(common_flags());
  flags.parse(argc, argv);
  if (answered(flags, true)) return 0;
  const Common common = read_common(flags, false);
  if (flags.given("list-algorithms")) return list_algorithms();
  if (flags.given("list-models")) return list_models(common);
  check_distinct_files(flags);
  for (const char* output : {"output", "export-graph", "timeline"}) {
    if (const auto file = flags.optional_text(output)) check_writable(*file, common.existing);
  }
  if (flags.given("check")) return check(flags, common);
  Problem problem(flags, common);
  if (const auto file = flags.optional_text("export-graph")) {
    const bool priced = flags.given("profile");
    write_json(*file, to_json(priced ? priced_graph(problem.costs()) : problem.graph()),
               common.existing);
    if (!flags.given("algorithm")) return 0;
  }
  return schedule(flags, common, problem);
}

}  // namespace
}  // namespace hios::cli

int main(int argc, char** argv) {
  try {
    return hios::cli::run(argc, argv);
  } catch (const hios::Error& error) {
    hios::log::error(error.what());
    return static_cast<int>(error.code());
  } catch (const std::exception& error) {
    hios::log::error(error.what());
    return static_cast<int>(hios::ExitCode::kRunFailed);
  }
}
