#pragma once

#include <span>
#include <string>
#include <vector>

#include "hios/base/json/json_view.h"
#include "hios/graph/graph.h"
#include "hios/platform/platform.h"
#include "hios/schedule/schedule.h"

/// The keys "stores" and "weights" of a schedule file (docs/formats.md). A schedule carries its
/// stores as it carries its devices, since the programs that run it read no platform. The file's
/// order numbers its stores. Where there is a platform, with_stores_of() gives them the numbers
/// that they have in its topology.
namespace hios {

/// Reads "stores". Throws InputError: a name twice, or that of a device.
std::vector<Store> stores_from_json(const JsonView& view, std::span<const Device> devices);
/// Reads "weights". Throws InputError with the JSON path: an operator, store or device that is not
/// there, a load from a device to itself, or a graph that divides its inputs (no load is of a
/// batch). The rules of a cold start are validate()'s.
Weights weights_from_json(const JsonView& view, const Graph& graph, std::span<const Device> devices,
                          std::span<const Store> stores);

Json stores_json(std::span<const Store> stores);
/// REQUIRES: no operator is read in place twice, since these are an object's keys.
Json weights_json(const Weights& weights, const Graph& graph, std::span<const Device> devices,
                  std::span<const Store> stores);

/// Returns the file with the stores of a topology, found by their names, so that its StoreIds are
/// that topology's. Throws InputError where the topology lacks one, or has it as another kind;
/// `name` is the file's, for the message.
ScheduleFile with_stores_of(const Topology& topology, ScheduleFile file, const std::string& name);

}  // namespace hios
