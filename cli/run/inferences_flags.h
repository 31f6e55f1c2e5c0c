#pragma once

#include <optional>

#include <boost/program_options.hpp>

#include "cli/flags/flags.h"
#include "engine/job/inferences.h"
#include "engine/measure/protocol.h"

/// The flags of many inferences in flight.
namespace hios::cli {

/// Declares --inferences --in-flight --copies --distinct-inputs.
boost::program_options::options_description inferences_flags();

/// Reads these flags; returns nothing where none is given. Throws InputError for a bad value and
/// for flags of one inference at a time.
std::optional<job::InferencesOptions> read_inferences(const Flags& flags);

/// Sets the protocol's number of iterations to that of inferences.
void count_inferences(const Flags& flags, Protocol& protocol);

}  // namespace hios::cli
