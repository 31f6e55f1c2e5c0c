#pragma once

#include <string>
#include <vector>

#include "cli/flags/flags.h"
#include "mpi/transport.h"

namespace hios::cli {

/// --list-devices: prints what each rank would compute with and how tensors would travel, and warns
/// of what would spoil times. Nothing runs. Collective; returns the exit status.
int list_devices(const Flags& flags, mpi::Transport& transport);

/// "0,1", as the operating system numbers them; "not pinned".
std::string cores_text(const std::vector<int>& cores);

}  // namespace hios::cli
