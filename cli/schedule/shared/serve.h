#pragma once

#include "cli/flags/flags.h"
#include "engine/host/clock.h"
#include "scheduler/registry.h"

namespace hios::cli {

/// Plans for --models which parameters the devices of a server keep, and each model's cold start.
/// Prints and writes the results. Returns the exit status; throws InputError before it plans.
int serve_models(const Flags& flags, const Common& common, const scheduler::Registry& registry,
                 const Stopwatch& since_start);

}  // namespace hios::cli
