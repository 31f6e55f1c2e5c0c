#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hios/discovery/machine.h"

/// GPUs as the library of NVIDIA's driver reports them, in neutral words.
namespace hios::discovery {

/// An active NVLink of a GPU.
struct NvidiaLink {
  std::string peer;        ///< the PCIe address of the other end, as in PciLink
  bool to_switch = false;  ///< the other end is an NVSwitch
  double gb_per_s = 0;
};

struct NvidiaGpu {
  std::string address;  ///< as in PciLink
  std::string model = {};
  Bytes memory_bytes = 0;
  std::optional<double> pcie_gb_per_s = {};
  std::vector<NvidiaLink> links = {};
};

/// Adds what the driver reports to the machine: models, memory and NVLinks, where the machine has
/// none, and GPUs that it does not show (their links are roots at node 0).
void add_nvidia(Machine& machine, const std::vector<NvidiaGpu>& gpus);

/// Returns the bandwidth of a PCIe link by its generation and lanes; empty where it is unknown.
std::optional<double> pcie_gb_per_s(unsigned generation, unsigned lanes);
/// Returns the bandwidth of one NVLink, each direction, by the driver's number of its version;
/// empty where it is unknown.
std::optional<double> nvlink_gb_per_s(unsigned version);

}  // namespace hios::discovery
