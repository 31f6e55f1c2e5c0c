#pragma once

#include <string>
#include <vector>

#include "cli/flags/flags.h"
#include "mpi/transport.h"

namespace hios::cli {

/// Prints for --list-devices each rank's device and the routes of tensors, and warns of
/// surroundings that would spoil times. Nothing runs. Collective; returns the exit status.
int list_devices(const Flags& flags, mpi::Transport& transport);

/// Returns "0,1", numbered by the operating system, or "not pinned".
std::string cores_text(const std::vector<int>& cores);

}  // namespace hios::cli
