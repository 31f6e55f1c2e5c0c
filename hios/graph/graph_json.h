#pragma once

#include "hios/base/json/json_view.h"
#include "hios/graph/graph.h"

/// Files of the format `hios-graph` version 1 (docs/formats.md).
namespace hios {

/// Throws InputError with file and JSON path, also where operators that share parameters give them
/// different sizes.
Graph graph_from_json(const JsonView& root);
Json to_json(const Graph& graph);

}  // namespace hios
