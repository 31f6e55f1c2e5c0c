#pragma once

#include <utility>
#include <vector>

#include "hios/base/ids.h"
#include "hios/base/json/json_view.h"

/// Measured times by size, as lists of [bytes, ms].
namespace hios {

/// Throws InputError where there is none, or sizes do not increase.
std::vector<std::pair<Bytes, double>> read_points(const JsonView& view);

Json points_json(const std::vector<std::pair<Bytes, double>>& points);

}  // namespace hios
