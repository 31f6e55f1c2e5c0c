#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "cli/schedule/inputs/schedule_inputs.h"
#include "cli/table.h"
#include "hios/base/json/json_io.h"
#include "scheduler/compare/row.h"

/// The table of a comparison; docs/comparison.md explains its columns.
namespace hios::cli {

/// The rows of one number of devices.
struct Compared {
  std::size_t devices = 0;
  std::vector<scheduler::Row> rows = {};
};

/// Returns the table for people: a row for each algorithm and number of devices. Speed-ups are over
/// the rows of the same number of devices.
Table comparison_table(const std::vector<Compared>& all);

/// Returns the reasons of algorithms that refused, a line each, often none.
std::string refusals_text(const std::vector<Compared>& all);

/// Returns remarks for schedules by these algorithms, a line each, often none: devices that run one
/// operator at a time, costs that were measured with another number of ranks.
std::string notes_text(const ScheduleInputs& inputs, const std::vector<std::string>& algorithms);

/// Returns a line that names the device that sequential and ios plan for; empty where all devices
/// have equal times or neither of them is among the rows.
std::string one_device_note(const std::vector<scheduler::Row>& rows, ScheduleInputs& inputs);

/// Returns the table for scripts: plain numbers, one value per cell; a cell without a value is
/// empty. `constants`: columns that have the same value in every row, with that value.
Table comparison_csv(const std::vector<Compared>& all,
                     const std::vector<std::pair<std::string, std::string>>& constants);

/// Returns an array of rows. A speed-up over an algorithm without a row is left out; an unknown
/// value is null.
Json comparison_json(const std::vector<Compared>& all);

}  // namespace hios::cli
