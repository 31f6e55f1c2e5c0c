#pragma once

#include <optional>
#include <string>

#include "cli/flags/flags.h"
#include "engine/job/ranks/watch.h"
#include "hios/base/ids.h"

namespace hios::cli {

/// Returns true if the flags ask for packed weights.
bool writes_packed(const Flags& flags);

/// Returns the file that they name: next to that of --write-weights or --weights. Throws InputError
/// where neither is given. REQUIRES: writes_packed().
std::string packed_file(const Flags& flags);

/// Writes the weights of --model as its backend computes with them to packed_file(): those of
/// --weights, else of the model or --seed; of the operators of --schedule if that is given. Returns
/// the exit status. Throws InputError and RunError as a run does. REQUIRES: one rank.
int write_packed_weights(const Flags& flags, job::Watch& watch, std::optional<Bytes> memory);

}  // namespace hios::cli
