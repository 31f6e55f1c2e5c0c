#pragma once

#include "cli/flags/flags.h"
#include "mpi/transport.h"

namespace hios::cli {

/// Writes what --model names to --export-onnx, with its own weights or those of --seed; on rank 0.
/// Collective. Throws InputError, on all ranks: flags of a run beside it, a model or a file that
/// cannot be.
int export_onnx(const Flags& flags, mpi::Transport& transport);

}  // namespace hios::cli
