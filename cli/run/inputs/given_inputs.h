#pragma once

#include <string>
#include <vector>

#include "cli/flags/flags.h"
#include "hios/base/files/file_io.h"
#include "hios/graph/network.h"

/// The model's inputs that the user gives.
namespace hios::cli {

/// Reads each --input [NAME:]FILE as RunInputs::input; empty without the flag. Throws InputError
/// with its remedy: a name that no input has, one that is given twice or not at all, another size,
/// numbers that an input does not take.
std::vector<float> read_given_inputs(const Flags& flags, const Network& network,
                                     const ReadLimits& limits);

/// Returns names for people: "'a', 'b' and 'c'".
std::string names_text(const std::vector<std::string>& names);

}  // namespace hios::cli
