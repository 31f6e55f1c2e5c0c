#pragma once

#include "cli/flags/flags.h"

namespace hios::cli {

/// --check: any author's schedule, on the devices that it names. Prints and writes all findings, or
/// its simulated latency with the lower bound and the gap to it. Returns the exit status; throws
/// InputError where flags exclude each other or costs are missing.
int check_schedule(const Flags& flags, const Common& common);

}  // namespace hios::cli
