#pragma once

#include "hios/base/json/json_view.h"
#include "hios/graph/graph.h"
#include "hios/schedule/schedule.h"

/// The prediction in a schedule file ("predicted").
namespace hios {

/// Throws InputError with file and JSON path.
Prediction read_prediction(const JsonView& view);
/// Writes a prediction with derived values: the gap, and inputs a second where the graph divides
/// inputs.
Json prediction_json(const Prediction& predicted, const Graph& graph);

}  // namespace hios
