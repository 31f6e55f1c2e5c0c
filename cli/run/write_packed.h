#pragma once

#include <optional>

#include "cli/flags/flags.h"
#include "engine/job/ranks/watch.h"
#include "hios/base/ids.h"

namespace hios::cli {

/// Writes the weights of --model as its backend computes with them next to --write-weights: those
/// of
/// --seed or the model's own, of the operators of --schedule if that is given. Returns the exit
/// status. Throws InputError and RunError as a run does. REQUIRES: one rank; writes_packed().
int write_packed_weights(const Flags& flags, job::Watch& watch, std::optional<Bytes> memory);

}  // namespace hios::cli
