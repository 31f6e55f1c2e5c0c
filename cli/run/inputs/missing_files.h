#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "cli/flags/flags.h"
#include "hios/graph/network.h"
#include "hios/platform/platform.h"

/// Messages about a schedule or a profile that a run lacks, with the commands that make them.
namespace hios::cli {

/// Throws InputError where a run of `size` ranks names a schedule that is not there, or none and
/// needs one. `kinds`: the kind of each rank's device.
void require_schedule(const Flags& flags, const ReadLimits& limits,
                      const std::vector<std::string>& kinds, std::size_t copies);

/// Throws InputError where --profile names a file that is not there; `devices`: those of the run.
void require_profile(const Flags& flags, const Network& network, const Platform& devices);

/// Returns the commands that plan the --model on such devices, and measure it before if it has no
/// profile, into `file`, which they replace. Empty: devices that differ need a --platform.
std::string plan_command(const Flags& flags, const Network& network,
                         const std::vector<Device>& devices, const std::string& file);

}  // namespace hios::cli
