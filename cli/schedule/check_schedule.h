#pragma once

#include "cli/flags/flags.h"

namespace hios::cli {

/// Checks for --check a schedule, from whatever source, on its devices. Prints and writes all
/// findings, or the simulated latency with its lower bound and gap. Returns the exit status; throws
/// InputError where flags exclude each other or costs are missing.
int check_schedule(const Flags& flags, const Common& common);

}  // namespace hios::cli
