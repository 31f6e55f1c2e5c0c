#include "hios/discovery/nvidia.h"

#include <algorithm>
#include <array>

namespace hios::discovery {
namespace {

/// Returns the GPU at this PCIe address.
std::optional<std::size_t> find_gpu(const Machine& machine, const std::string& address) {
  for (std::size_t g = 0; g < machine.gpus.size(); ++g) {
    if (machine.links[machine.gpus[g].link].address == address) return g;
  }
  return std::nullopt;
}

}  // namespace

std::optional<double> pcie_gb_per_s(unsigned generation, unsigned lanes) {
  // 2.5, 5, 8, 16, 32, 64 GT/s a lane; 8 of 10 bits are data in the first two, 128 of 130 in three,
  // 242 of 256 bytes in the last.
  constexpr std::array kOfLane = {0.25, 0.5, 0.9846, 1.9692, 3.9385, 7.5625};
  if (generation < 1 || generation > kOfLane.size() || lanes < 1 || lanes > 32) return std::nullopt;
  return kOfLane[generation - 1] * lanes;
}

std::optional<double> nvlink_gb_per_s(unsigned version) {
  // The driver counts 1, 2, 2.2, 3, 3.1, 4, 5.
  constexpr std::array kOfVersion = {20.0, 25.0, 25.0, 25.0, 25.0, 25.0, 50.0};
  if (version < 1 || version > kOfVersion.size()) return std::nullopt;
  return kOfVersion[version - 1];
}

void add_nvidia(Machine& machine, const std::vector<NvidiaGpu>& gpus) {
  for (const NvidiaGpu& reported : gpus) {
    auto found = find_gpu(machine, reported.address);
    if (!found) {
      found = machine.gpus.size();
      machine.gpus.push_back({.model = "", .link = machine.links.size()});
      machine.links.push_back(
          {.address = reported.address, .above = {}, .gb_per_s = reported.pcie_gb_per_s});
    }
    Gpu& gpu = machine.gpus[*found];
    if (gpu.model.empty()) gpu.model = reported.model;
    if (gpu.memory_bytes == 0) gpu.memory_bytes = reported.memory_bytes;
    auto& link = machine.links[gpu.link];
    if (!link.gb_per_s) link.gb_per_s = reported.pcie_gb_per_s;
  }
  if (!machine.nvlinks.empty() || !machine.nvswitch_ports.empty()) return;
  for (const NvidiaGpu& reported : gpus) {
    const std::size_t from = find_gpu(machine, reported.address).value();
    for (const NvidiaLink& link : reported.links) {
      if (link.to_switch) {
        machine.nvswitch_ports.push_back({from, link.gb_per_s});
      } else if (const auto to = find_gpu(machine, link.peer); to && *to != from) {
        machine.nvlinks.push_back({from, *to, link.gb_per_s});
      }
    }
  }
}

}  // namespace hios::discovery
