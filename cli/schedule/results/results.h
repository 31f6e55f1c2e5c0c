#pragma once

#include <string>
#include <utility>
#include <vector>

#include "cli/flags/flags.h"
#include "cli/schedule/comparison.h"
#include "cli/schedule/inputs/schedule_inputs.h"
#include "cli/schedule/schedule_runs.h"
#include "scheduler/compare/raise_period_bounds.h"

/// The results of hios-schedule: a table for people, and files of the formats `hios-comparison` and
/// `hios-check` (docs/formats.md), with the problem and the program that made them.
namespace hios::cli {

/// The form of the table for people.
enum class TableForm { kText, kMarkdown, kLatex };

/// Reads --markdown and --latex. Throws InputError where both are given, or nothing has a table.
TableForm read_table_form(const Flags& flags);

/// Returns the beginning of a file of results: format, version, commit, arguments, graph, devices,
/// seed.
Json head_json(const std::string& format, const Flags& flags, const Common& common,
               const ScheduleInputs& inputs);

/// Returns the same as columns of a CSV, with their values; the devices are columns of the rows.
std::vector<std::pair<std::string, std::string>> head_columns(const std::string& format,
                                                              const Flags& flags,
                                                              const Common& common,
                                                              const ScheduleInputs& inputs);

/// A problem of one number of devices, its rows and the bounds of their periods.
struct Part {
  ScheduleInputs* inputs = nullptr;
  std::vector<scheduler::Row> rows = {};
  std::vector<scheduler::PeriodRow> bounds = {};
};

/// Prints the table with its remarks, and writes --csv and --json. `flags`: as the user gave them.
/// In another form than text the table alone goes to standard output, and remarks to standard
/// error. REQUIRES: at least one part.
void write_results(const std::vector<Part>& parts, const Flags& flags, const Common& common,
                   const Settings& settings, TableForm form);

}  // namespace hios::cli
