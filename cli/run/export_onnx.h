#pragma once

#include "cli/flags/flags.h"
#include "mpi/transport.h"

namespace hios::cli {

/// Writes the model of --model to --export-onnx, with its own weights or those of --seed; on rank
/// 0. Collective. Throws InputError, on all ranks: flags of a run, a model that ONNX cannot hold,
/// or a file that cannot be written.
int export_onnx(const Flags& flags, mpi::Transport& transport);

}  // namespace hios::cli
