// hios-schedule: plans on any machine, without MPI and without devices.

#include <algorithm>

#include "cli/comparison.h"
#include "cli/finding_line.h"
#include "cli/flags.h"
#include "cli/interrupt.h"
#include "cli/list_algorithms.h"
#include "cli/list_models.h"
#include "cli/planned_trace.h"
#include "cli/priced_graph.h"
#include "cli/schedule_inputs.h"
#include "cli/schedule_runs.h"
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

po::options_description schedule_flags() {
  po::options_description group("Schedule", 100, 45);
  group.add_options()("algorithm", value("NAME[,NAME...]|all"),
                      "which schedulers (--list-algorithms)");
  group.add_options()("compare",
                      "all schedulers side by side, or those of --algorithm beside sequential and "
                      "ios; --csv and --json write the table");
  group.add_options()("option", po::value<std::vector<std::string>>()->value_name("KEY=VALUE"),
                      "of the algorithms, again and again: window=4");
  group.add_options()(
      "time-limit", value("SECONDS")->default_value("10"),
      "for each algorithm that can end early; the best found counts. Ctrl-C ends it early (a "
      "second "
      "for some 100,000 operators), keeps the best so far and exits 130; a second one ends all");
  group.add_options()("output", value("FILE"), "write the schedule (one algorithm)");
  group.add_options()("check", value("SCHEDULE"), "validate and simulate an existing schedule");
  group.add_options()("export-graph", value("FILE"), "write the graph with its costs");
  group.add_options()("timeline", value("FILE"), "write the plan as a Chrome trace (Perfetto)");
  group.add_options()("list-algorithms", "print the schedulers and their options")(
      "list-models", "print the built-in networks");
  return group;
}

/// The algorithms that --algorithm and --compare name, each once. A comparison has sequential and
/// ios in it, and without --algorithm all.
std::vector<const Algorithm*> chosen_algorithms(const Flags& flags) {
  const bool compare = flags.given("compare");
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
      choose(scheduler::find(name));
      continue;
    }
    for (const Algorithm& algorithm : scheduler::all()) choose(algorithm);
  }
  if (chosen.size() > 1 && (flags.given("output") || flags.given("timeline"))) {
    throw InputError(
        "--output and --timeline take one algorithm; --json and --csv compare several");
  }
  return chosen;
}

/// Every word must fit at least one of the chosen algorithms; each gets those that it knows.
std::vector<Asked> read_options(const Flags& flags, const std::vector<const Algorithm*>& chosen) {
  std::vector<Asked> asked;
  for (const Algorithm* algorithm : chosen)
    asked.push_back({algorithm, Options(algorithm->options)});
  for (const std::string& word : flags.repeated("option")) {
    const std::string key = word.substr(0, word.find('='));
    bool known = false;
    for (Asked& each : asked) {
      if (each.options.has(key)) each.options.set(word);
      known = known || each.options.has(key);
    }
    if (!known) asked.front().options.set(word);  // says which names there are
  }
  return asked;
}

void write_results(const std::vector<ScheduleRun>& runs, const Problem& problem,
                   const Common& common) {
  show(comparison_text(runs));
  if (common.csv) write_text(*common.csv, comparison_csv(runs).csv(), common.existing);
  if (!common.json) return;
  Json schedules = Json::array();
  for (const ScheduleRun& run : runs) {
    if (run.refusal.empty()) schedules.push_back(to_json(run.file, problem.graph()));
  }
  write_json(*common.json, {{"comparison", comparison_json(runs)}, {"schedules", schedules}},
             common.existing);
}

int schedule(const Flags& flags, const Common& common, Problem& problem) {
  const std::vector<Asked> asked = read_options(flags, chosen_algorithms(flags));
  const double time_limit_s = flags.number("time-limit", 0, 1e6);
  const std::vector<ScheduleRun> runs = run_algorithms(asked, problem, time_limit_s, common.seed);
  const bool all_done = runs.size() == asked.size();
  if (const auto file = flags.optional_text("output")) {
    write_json(*file, to_json(runs.front().file, problem.graph()), common.existing);
  }
  if (const auto file = flags.optional_text("timeline")) {
    write_json(*file, planned_trace(problem.graph(), runs.front().file, problem.costs()).json(),
               common.existing);
  }
  write_results(runs, problem, common);
  if (!Interrupt::asked()) return 0;
  log::info("interrupted: the best so far was kept" +
            (all_done ? std::string()
                      : "; not started: " + std::to_string(asked.size() - runs.size()) +
                            " of the algorithms"));
  return kInterrupted;
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
  for (const char* other : {"algorithm", "compare", "output", "csv", "option"}) {
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
  if (flags.given("list-algorithms")) return list_algorithms(common);
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
    if (!flags.given("algorithm") && !flags.given("compare")) return 0;
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
