#pragma once

#include "cli/flags/flags.h"

namespace hios::cli {

/// Returns all flags of hios-schedule, to be parsed.
Flags schedule_program_flags();

}  // namespace hios::cli
