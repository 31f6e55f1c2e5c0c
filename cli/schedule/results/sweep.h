#pragma once

#include <vector>

#include "cli/flags/flags.h"

/// Several numbers of devices in one command: --devices 2,4,8.
namespace hios::cli {

/// Returns the flags of each number of devices that --devices lists, in that order, or the flags
/// themselves where it is not given; in them {devices} in the names of --output and --timeline is
/// that number. Throws InputError: no number, one twice, names of files that are the same for
/// several numbers, or exports, which are of one problem.
std::vector<Flags> flags_by_devices(const Flags& flags);

}  // namespace hios::cli
