#pragma once

#include "hios/base/json/json_io.h"
#include "hios/graph/graph.h"
#include "hios/schedule/schedule.h"

/// What was predicted of a schedule, as its file says it.
namespace hios {

/// Throws InputError with file and JSON path.
Prediction read_prediction(const JsonView& view);
/// With what follows from it: the gap, and inputs a second where the graph divides inputs.
Json prediction_json(const Prediction& predicted, const Graph& graph);

}  // namespace hios
