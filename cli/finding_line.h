#pragma once

#include <string>

#include "hios/evaluate/validate.h"

namespace hios::cli {

/// "schedule.json: $.devices[1].stages[4]: …": a broken rule and where it stands in its file.
std::string finding_line(const std::string& file, const Finding& finding);

}  // namespace hios::cli
