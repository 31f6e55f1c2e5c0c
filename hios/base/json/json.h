#pragma once

#include <nlohmann/json_fwd.hpp>

namespace hios {

/// A JSON value; objects keep the order of their keys. Declared only, since the library's templates
/// take long to compile: sources that touch a value include <nlohmann/json.hpp>; structs own one as
/// an OwnedJson.
using Json = nlohmann::ordered_json;

}  // namespace hios
