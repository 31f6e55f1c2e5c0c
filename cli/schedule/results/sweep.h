#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/flags/flags.h"

/// Several numbers of devices in one command: --devices 2,4,8.
namespace hios::cli {

/// Returns the flags of each number of devices that --devices lists, in that order, or the flags
/// themselves where it is not given; in them {devices} in the names of --output and --timeline is
/// that number. Throws InputError: no number, one twice, names of files that are the same for
/// several numbers, or exports, which are of one problem.
std::vector<Flags> flags_by_devices(const Flags& flags);

/// Returns the name of a file with a word in place of each placeholder: "{devices}".
std::string with_placeholder(std::string name, std::string_view placeholder,
                             const std::string& word);

}  // namespace hios::cli
