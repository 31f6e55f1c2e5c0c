#pragma once

#include <optional>

#include "cli/flags/flags.h"
#include "hios/base/ids.h"
#include "mpi/transport.h"

namespace hios::cli {

/// Writes the model of --model to --export-onnx, with its own weights or those of --seed; on rank
/// 0. Collective. Throws InputError, on all ranks: flags of a run, a model that ONNX cannot hold,
/// a file that cannot be written, or one that takes more than `memory` (empty: no limit).
int export_onnx(const Flags& flags, mpi::Transport& transport, std::optional<Bytes> memory);

}  // namespace hios::cli
