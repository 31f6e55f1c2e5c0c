#pragma once

#include <memory>
#include <span>

#include "engine/backends.h"
#include "engine/emulated/emulation.h"

namespace hios::emulated {

/// Returns a table of one row, "emulated", for RankOptions::table: its devices are of any kind.
/// The row's own backend supports no operator: it knows no machine. Jobs call make_backend().
std::span<const BackendEntry> table();

/// Returns the backend of an emulated run. An operator sleeps for its time; its output is a digest
/// of its name, its inputs and its parameters, so that a wrong order, a missing load and a wrong
/// message show in the outputs. It reads its parameters, which are digests of their names, in
/// memory of their own for each source, as the cpu backend does. `emulation` (null: no operator is
/// supported) outlives the backend. The groups of a stage run one after the other, in the time that
/// the stage costs.
std::unique_ptr<Backend> make_backend(Emulation* emulation, Precision precision);

}  // namespace hios::emulated
