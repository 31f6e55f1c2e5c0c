#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hios/base/json/json_view.h"
#include "hios/graph/batching.h"
#include "hios/graph/graph.h"
#include "hios/schedule/schedule.h"

/// Files of the format `hios-schedule` version 1 (docs/formats.md).
namespace hios {

/// Reads a schedule of `graph`, which gives ids to the operators that the file names. Throws
/// InputError with both digests where the file names another graph's, and with the JSON path where
/// the structure is wrong (an unknown operator); the rules of a schedule are validate()'s. Only
/// "graph" (name, digest) and "devices" are needed; other keys default to those of ScheduleFile.
/// The file's own "stores" number the stores of its weights: where there is a platform, follow it
/// by with_stores_of() (hios/schedule/weights_json.h).
ScheduleFile schedule_from_json(const JsonView& root, const Graph& graph);

/// Returns the batches, sorted, in which a schedule file divides the inputs of its graph. Empty
/// where each operator runs all of them at once: schedule_from_json() then takes the graph itself,
/// and otherwise the graph that divide() makes of the batches (hios/graph/batches.h). Throws
/// InputError: an operator that the graph does not have, or a digest that is not the graph's.
std::vector<Batch> schedule_batches(const JsonView& root, const Graph& whole, std::int64_t inputs);

/// REQUIRES: as many lists of stages as devices.
Json to_json(const ScheduleFile& file, const Graph& graph);

/// The beginning of a schedule file, which can be read before there is a graph.
struct ScheduleHead {
  std::string graph_name;
  std::int64_t batch = 0, height = 0, width = 0;
  Cuts cuts = {};
  std::vector<Device> devices;
};
ScheduleHead schedule_head(const JsonView& root);

/// Throws InputError with a need::SameMerge where a schedule file was made with other siblings of
/// the model merged than this graph. A file with this graph's digest fits, whatever its "merge"
/// says.
void check_merge(const JsonView& root, const Graph& graph, const Merge& merge);

}  // namespace hios
