#pragma once

#include "hios/base/json/json_io.h"
#include "hios/graph/graph.h"

namespace hios {

/// `hios-graph` (docs/formats.md). Throws InputError with file and path.
Graph graph_from_json(const JsonView& root);
Json to_json(const Graph& graph);

}  // namespace hios
