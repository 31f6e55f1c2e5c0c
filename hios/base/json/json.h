#pragma once

#include <nlohmann/json.hpp>

namespace hios {

/// A JSON value; objects keep the order of their keys.
using Json = nlohmann::ordered_json;

}  // namespace hios
