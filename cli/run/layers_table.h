#pragma once

#include <string>

#include "hios/report/report.h"

namespace hios::cli {

/// A table of the report's operators, and what its columns mean: empty where the report has none.
std::string layers_table(const Report& report, const Graph& graph);

}  // namespace hios::cli
