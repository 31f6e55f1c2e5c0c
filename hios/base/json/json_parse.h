#pragma once

#include <string>
#include <string_view>

#include "hios/base/files/file_io.h"
#include "hios/base/json/json.h"

namespace hios {

/// Parses a text. `name` stands for the file in messages. Throws InputError with name and JSON
/// path: an empty or truncated text, a duplicate key, nesting over the limit, or a number that no
/// double holds (1e400).
Json parse_json(std::string_view text, const std::string& name, const ReadLimits& limits = {});

}  // namespace hios
