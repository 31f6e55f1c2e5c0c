#pragma once

#include <boost/program_options.hpp>
#include <string>

#include "cli/flags/flags.h"
#include "engine/job/run_inputs.h"

namespace hios::cli {

/// Declares --graph --platform --time-scale.
boost::program_options::options_description emulated_flags();

/// Returns true if the command is for a machine that is emulated. Throws InputError where its flags
/// do not fit that, or those of an emulated machine are there without it.
bool emulates(const Flags& flags);

/// Reads graph, schedule and platform. REQUIRES: emulates().
job::RunInputs read_emulated(const Flags& flags, const ReadLimits& limits);

/// Returns the flags of graph and platform, for the commands of remedies, quoted for a shell.
/// REQUIRES: emulates().
std::string emulated_words(const Flags& flags);

}  // namespace hios::cli
