#pragma once

#include "cli/flags/flags.h"
#include "engine/job/ranks/watch.h"

/// hios-profile --write-platform: the stores, buses, routes and devices of a machine, measured on
/// this one or read from another's description.
namespace hios::cli {

/// Declares --write-platform --topology --disk-folder.
boost::program_options::options_description platform_flags();

/// Returns true if one of these flags is given: hios-profile then writes a platform and measures no
/// network.
bool writes_platform(const Flags& flags);

/// Writes the platform and prints its routes. Throws InputError, before anything is measured: files
/// that cannot be read or written, flags of a profile, a machine without devices. Collective;
/// returns the exit status.
int write_platform(const Flags& flags, job::Watch& watch);

}  // namespace hios::cli
