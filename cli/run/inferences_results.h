#pragma once

#include <string>
#include <utility>
#include <vector>

#include "cli/table.h"
#include "hios/report/report.h"

/// What a run of many inferences in flight shows.
namespace hios::cli {

/// Tables for people: the whole, and where each rank's time went. REQUIRES: report.throughput.
std::string inferences_text(const Report& report);

/// Columns for scripts, with their values; none where the run was of one inference at a time.
std::vector<std::pair<std::string, std::string>> inferences_columns(const Report& report);

}  // namespace hios::cli
