#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "hios/base/ids.h"

/// A machine in neutral words: memory, PCIe links, GPUs, disks and network adapters, as some
/// library found them. Positions in these lists are the numbers by which they refer to each other.
/// Bandwidths are in 10⁹ bytes a second, one direction; empty: not reported.
namespace hios::discovery {

/// A NUMA node: memory, and the cores next to it.
struct MemoryNode {
  unsigned number = 0;  ///< the operating system's
  Bytes memory_bytes = 0;
  std::size_t package = 0;      ///< the processor package that it belongs to
  std::vector<int> cores = {};  ///< the operating system's numbers, ascending
  std::optional<double> gb_per_s = {};

  static auto fields(auto& self) {
    return std::tie(self.number, self.memory_bytes, self.package, self.cores, self.gb_per_s);
  }
};

/// A PCIe link, from a port down to a switch or a device. Links form trees, whose roots are at NUMA
/// nodes.
struct PciLink {
  std::string address;                    ///< of the port or the device: "3b:00.0"
  std::optional<std::size_t> above = {};  ///< the next link on the way to memory; empty: a root
  std::size_t node = 0;                   ///< the NUMA node at the root
  std::optional<double> gb_per_s = {};

  static auto fields(auto& self) {
    return std::tie(self.address, self.above, self.node, self.gb_per_s);
  }
};

struct Gpu {
  std::string model;       ///< "NVIDIA RTX A6000"; may be empty
  Bytes memory_bytes = 0;  ///< 0: not reported
  std::size_t link = 0;    ///< its PciLink

  static auto fields(auto& self) { return std::tie(self.model, self.memory_bytes, self.link); }
};

struct Disk {
  std::string name;                      ///< the operating system's: "nvme0n1"
  std::optional<std::size_t> link = {};  ///< its PciLink, or that of its controller
  std::size_t node = 0;                  ///< the NUMA node next to it

  static auto fields(auto& self) { return std::tie(self.name, self.link, self.node); }
};

struct NetworkAdapter {
  std::string name;  ///< "eth0"
  std::optional<std::size_t> link = {};

  static auto fields(auto& self) { return std::tie(self.name, self.link); }
};

/// All NVLinks from one GPU to another, in this direction.
struct NvLink {
  std::size_t from = 0, to = 0;  ///< GPUs
  double gb_per_s = 0;

  static auto fields(auto& self) { return std::tie(self.from, self.to, self.gb_per_s); }
};

/// All NVLinks between a GPU and the NVSwitches, each direction.
struct NvSwitchPort {
  std::size_t gpu = 0;
  double gb_per_s = 0;

  static auto fields(auto& self) { return std::tie(self.gpu, self.gb_per_s); }
};

/// Returns the address of a PCIe function: "3b:00.0", or "0001:3b:00.0" where the domain is not 0.
std::string pci_address(unsigned domain, unsigned bus, unsigned device, unsigned function);

struct Machine {
  std::string host;
  std::vector<MemoryNode> nodes;  ///< at least one
  std::vector<PciLink> links;     ///< a link comes after the one above it
  std::vector<Gpu> gpus;
  std::vector<Disk> disks;
  std::vector<NetworkAdapter> adapters;
  std::vector<NvLink> nvlinks;
  std::vector<NvSwitchPort> nvswitch_ports;
  std::vector<std::string> other_gpus;  ///< of other vendors; no backend computes on them

  static auto fields(auto& self) {
    return std::tie(self.host, self.nodes, self.links, self.gpus, self.disks, self.adapters,
                    self.nvlinks, self.nvswitch_ports, self.other_gpus);
  }
};

}  // namespace hios::discovery
