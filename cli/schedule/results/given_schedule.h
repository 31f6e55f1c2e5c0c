#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/flags/flags.h"
#include "cli/schedule/inputs/schedule_inputs.h"
#include "hios/base/json/owned_json.h"
#include "hios/schedule/schedule.h"
#include "scheduler/compare/row.h"

/// A schedule from elsewhere, alone or next to those of our schedulers: --check FILE.
namespace hios::cli {

/// The file of --check, read before there is a graph.
struct GivenFile {
  std::string name;
  OwnedJson json = {};
  Platform devices;  ///< its devices, without links
  Cuts cuts = {};
};

/// Throws InputError also where --cut none is given and the file's operators are cut.
GivenFile read_given_file(const Flags& flags, const Common& common);

/// Returns the flags, with the file's cuts where they say nothing about cuts of a --model.
Flags with_cuts_of(const GivenFile& given, const Flags& flags);

/// A given schedule of the inputs' graph.
struct GivenSchedule {
  ScheduleFile file;
  std::shared_ptr<const Graph> graph;  ///< of its batches
};

/// Reads the schedule. Throws InputError: a schedule of another graph, of other merging, or of
/// another number of devices than the platform's.
GivenSchedule read_given_schedule(const GivenFile& given, const ScheduleInputs& inputs);

/// Prints all findings and returns them; none: the schedule is valid on the devices.
std::vector<std::string> show_findings(const std::string& name, const GivenSchedule& given,
                                       const Platform& devices);

/// Returns the schedule's row next to those of our schedulers, whose lower bound it shares. Throws
/// RunError where its latency is below that bound. REQUIRES: the schedule is valid.
scheduler::Row given_row(const GivenFile& from, const GivenSchedule& given, ScheduleInputs& inputs,
                         const scheduler::Problem& problem,
                         const std::vector<scheduler::Row>& others);

}  // namespace hios::cli
