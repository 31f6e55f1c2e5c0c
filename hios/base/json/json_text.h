#pragma once

#include <string>

#include "hios/base/json/json.h"

namespace hios {

/// Returns the text of a file: short arrays and flat records on one line, other objects indented,
/// a newline at the end. Numbers read back as the same double. Throws RunError for a number that is
/// not finite (JSON has none). REQUIRES: nesting within the reader's limit.
std::string to_text(const Json& json);

}  // namespace hios
