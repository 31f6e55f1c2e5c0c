#pragma once

#include <string>
#include <utility>
#include <vector>

#include "cli/table.h"
#include "hios/report/report.h"

/// Results of a run with many inferences in flight.
namespace hios::cli {

/// Returns tables for people: the whole run, and the use of each rank's time. REQUIRES:
/// report.throughput.
std::string inferences_text(const Report& report);

/// Returns columns for scripts, with their values; none after a run of one inference at a time.
std::vector<std::pair<std::string, std::string>> inferences_columns(const Report& report);

}  // namespace hios::cli
