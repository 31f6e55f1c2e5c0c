#pragma once

#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

/// The ways between the GPUs of ranks, in the words of `nvidia-smi topo`.
namespace hios::discovery {

/// The place of a rank's GPU.
struct GpuPlace {
  std::string host;
  std::string address = {};           ///< as in PciLink; empty: the rank has no GPU
  std::optional<int> numa_node = {};  ///< empty: the system does not say
  /// Its active NVLinks: the address of the other end, and whether that is an NVSwitch.
  std::vector<std::pair<std::string, bool>> links = {};

  static auto fields(auto& self) {
    return std::tie(self.host, self.address, self.numa_node, self.links);
  }
};

/// Returns the NVLinks of the GPU at this address, as the driver reports them; none where it does
/// not. `library`: the name of NVML.
std::vector<std::pair<std::string, bool>> nvlinks_of(
    const std::string& address, const std::string& library = "libnvidia-ml.so.1");

/// Converts a PCI address of any notation, "00000000:3B:00.0", to that of PciLink, "3b:00.0"; empty
/// where it is none.
std::string short_pci_address(const std::string& text);

/// Returns "NV4" (four NVLinks, or as many to NVSwitches), "NODE" (PCIe of one NUMA node), "SYS"
/// (between NUMA nodes), "PCIe" (the nodes are unknown), "same" (one GPU), "net" (two hosts); empty
/// where one of the two has no GPU.
std::string link_between(const GpuPlace& a, const GpuPlace& b);

}  // namespace hios::discovery
