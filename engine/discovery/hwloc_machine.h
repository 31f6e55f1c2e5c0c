#pragma once

#include <string>

#include "hios/discovery/machine.h"

/// Machines as hwloc finds or describes them. A build without hwloc throws the InputError of
/// need::Hwloc from both functions.
namespace hios::discovery {

/// Returns the machine on which this process runs: memory, cores, PCIe links, GPUs, disks and
/// network adapters. A container may hide some. Throws RunError where hwloc fails.
Machine this_machine();

/// Returns the machine of an export of hwloc (its XML, version 2). Nothing is asked of the machine
/// that reads it. `file`: its name for messages. Throws InputError: no XML of hwloc, or one without
/// a machine, memory or cores.
Machine machine_of_xml(const std::string& xml, const std::string& file);

}  // namespace hios::discovery
