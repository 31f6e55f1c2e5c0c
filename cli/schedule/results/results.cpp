#include "cli/schedule/results/results.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "cli/process/commands.h"
#include "cli/process/output.h"
#include "cli/process/version.h"
#include "cli/schedule/period_table.h"
#include "cli/schedule/why_plan.h"
#include "hios/base/log.h"
#include "hios/platform/platform_json.h"
#include "hios/schedule/schedule_json.h"

// Tests: tests/cli/programs/plans/results_test.cpp, sweep_test.cpp and given_schedule_test.cpp
// there.

namespace hios::cli {
namespace {

constexpr const char* kComparison = "hios-comparison";

Json graph_json(const ScheduleInputs& inputs) {
  const ScheduleFile file = inputs.blank_file();
  Json graph = {{"name", file.graph_name},
                {"digest", file.graph_digest},
                {"operators", inputs.graph().size()},
                {"edges", inputs.graph().edge_count()}};
  if (!inputs.network()) return graph;
  graph["batch"] = file.batch;
  graph["height"] = file.height;
  graph["width"] = file.width;
  return graph;
}

/// Returns lines without those that are there already.
std::string new_lines(const std::string& lines, std::set<std::string>& shown) {
  std::string text;
  for (const std::string& line : split(lines, '\n')) {
    if (!line.empty() && shown.insert(line).second) text += line + "\n";
  }
  return text;
}

/// Returns the remarks under the table; those that several parts have, once.
std::string remarks(const std::vector<Part>& parts) {
  std::string text;
  std::set<std::string> shown;
  for (const Part& part : parts) {
    std::vector<std::string> planned;
    for (const scheduler::Row& row : part.rows) {
      if (!row.refusal && row.given.empty()) planned.push_back(row.algorithm);
    }
    text += new_lines(one_device_note(part.rows, *part.inputs), shown) +
            new_lines(notes_text(*part.inputs, planned), shown);
  }
  for (const Part& part : parts) {
    const std::string bounds = period_bounds_text(part.bounds);
    if (parts.size() > 1 && !bounds.empty())
      text += "\n" + std::to_string(part.inputs->platform().size()) + " devices:";
    text += bounds;
  }
  return text;
}

std::vector<Compared> compared(const std::vector<Part>& parts) {
  std::vector<Compared> all;
  for (const Part& part : parts) all.push_back({part.inputs->platform().size(), part.rows});
  return all;
}

Json bounds_json(const std::vector<Part>& parts) {
  Json list = Json::array();
  for (const Part& part : parts) {
    for (Json& bound : period_bounds_json(part.bounds)) {
      bound["devices"] = part.inputs->platform().size();
      list.push_back(std::move(bound));
    }
  }
  return list;
}

/// Returns the part with the most devices, of which the others have the first ones.
const Part& largest(const std::vector<Part>& parts) {
  return *std::ranges::max_element(parts, {},
                                   [](const Part& part) { return part.inputs->platform().size(); });
}

}  // namespace

TableForm read_table_form(const Flags& flags) {
  if (flags.given("markdown") && flags.given("latex"))
    throw InputError("--markdown and --latex exclude each other: the table has one form");
  return flags.given("markdown") ? TableForm::kMarkdown
         : flags.given("latex")  ? TableForm::kLatex
                                 : TableForm::kText;
}

Json head_json(const std::string& format, const Flags& flags, const Common& common,
               const ScheduleInputs& inputs) {
  return {{"format", format},
          {"version", kFormatVersion},
          {"commit", commit()},
          {"versions", versions()},
          {"arguments", flags.arguments()},
          {"graph", graph_json(inputs)},
          {"devices", to_json(inputs.platform()).at("devices")},
          {"seed", common.seed}};
}

std::vector<std::pair<std::string, std::string>> head_columns(const std::string& format,
                                                              const Flags& flags,
                                                              const Common& common,
                                                              const ScheduleInputs& inputs) {
  const Graph& graph = inputs.graph();
  return {{"graph", graph.name()},
          {"graph_digest", graph.digest()},
          {"operators", std::to_string(graph.size())},
          {"edges", std::to_string(graph.edge_count())},
          {"seed", std::to_string(common.seed)},
          {"arguments", shell_words(flags.arguments())},
          {"hios", versions().at("hios").get<std::string>()},
          {"commit", commit()},
          {"format", format},
          {"version", std::to_string(kFormatVersion)}};
}

void write_results(const std::vector<Part>& parts, const Flags& flags, const Common& common,
                   const Settings& settings, TableForm form) {
  const std::vector<Compared> all = compared(parts);
  const Table table = comparison_table(all);
  const Part& most = largest(parts);
  const std::optional<PlanWhy> why = why_of_shortest(most.rows, *most.inputs);
  std::string below = refusals_text(all) + remarks(parts);
  if (why && parts.size() > 1) {
    below += "\n" + std::to_string(most.inputs->platform().size()) + " devices:\n";
  }
  if (why) below += why->text();
  if (form == TableForm::kText) {
    show(table.text(line_width()) + below);
  } else {
    show(form == TableForm::kLatex ? table.latex() : table.markdown());
    for (const std::string& line : split(below, '\n')) {
      if (!line.empty()) log::info(line);
    }
  }
  if (common.csv) {
    const auto constants = head_columns(kComparison, flags, common, *most.inputs);
    write_text(*common.csv, comparison_csv(all, constants).csv(), common.existing);
  }
  if (!common.json) return;
  Json results = head_json(kComparison, flags, common, *most.inputs);
  results["objective"] = to_string(settings.objective);
  results["time_limit_s"] = settings.time_limit_s;
  results["comparison"] = comparison_json(all);
  results["schedules"] = Json::array();
  for (const Part& part : parts) {
    for (const scheduler::Row& row : part.rows) {
      if (!row.graph) continue;
      results["schedules"].push_back(to_json(file_of(row, *part.inputs, settings), *row.graph));
    }
  }
  Json bounds = bounds_json(parts);
  if (!bounds.empty()) results["bounds"] = std::move(bounds);
  if (why) results["why"] = why->json();
  write_json(*common.json, results, common.existing);
}

}  // namespace hios::cli
