#pragma once

#include <string>

#include "hios/report/report.h"

namespace hios::cli {

/// Returns a table of the report's operators with a line about its columns; empty where the report
/// has none.
std::string layers_table(const Report& report, const Graph& graph);

}  // namespace hios::cli
