#pragma once

#include <string>
#include <vector>

#include "cli/schedule/schedule_inputs.h"
#include "cli/table.h"
#include "hios/base/json/json_io.h"
#include "scheduler/compare/row.h"

/// Schedules of one problem side by side; docs/comparison.md explains the columns.
namespace hios::cli {

/// For people: a row an algorithm, then why those that refused did so.
std::string comparison_text(const std::vector<scheduler::Row>& runs);

/// Below what was found of schedules by these algorithms: what the devices and their costs leave
/// out, a line each; often nothing.
std::string notes_text(const ScheduleInputs& inputs, const std::vector<std::string>& algorithms);

/// Which device sequential and ios plan for, where devices differ and one of them is among the
/// runs.
std::string one_device_note(const std::vector<scheduler::Row>& runs, ScheduleInputs& inputs);

/// The same for scripts: plain numbers, one value a cell; a cell without a value is empty.
Table comparison_csv(const std::vector<scheduler::Row>& runs);

/// An array of rows; a speed-up over what is not there is left out, a value that is
/// not known is null.
Json comparison_json(const std::vector<scheduler::Row>& runs);

}  // namespace hios::cli
