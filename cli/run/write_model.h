#pragma once

#include <optional>

#include "cli/flags/flags.h"
#include "hios/base/ids.h"
#include "mpi/transport.h"

namespace hios::cli {

/// Returns true if the flags ask for a file of the model, --export-onnx or --write-weights.
bool writes_model(const Flags& flags);

/// Returns true if they ask for packed weights next to --write-weights.
bool writes_packed(const Flags& flags);

/// Writes the model of --model to --export-onnx, or its weights to --write-weights: its own, or
/// those of --seed; on rank 0. Collective. Throws InputError, on all ranks: both flags, flags of a
/// run, a model that ONNX cannot hold, a file that cannot be written, or one that takes more than
/// `memory` (empty: no limit).
int write_model(const Flags& flags, mpi::Transport& transport, std::optional<Bytes> memory);

}  // namespace hios::cli
