#pragma once

#include <optional>

#include <boost/program_options.hpp>

#include "cli/flags/flags.h"
#include "engine/job/inferences.h"
#include "engine/measure/protocol.h"

/// The flags of many inferences in flight.
namespace hios::cli {

boost::program_options::options_description inferences_flags();

/// Nothing where no flag asks for it. Throws InputError, also where others do not go with it.
std::optional<job::InferencesOptions> read_inferences(const Flags& flags);

/// The protocol counts inferences then.
void count_inferences(const Flags& flags, Protocol& protocol);

}  // namespace hios::cli
