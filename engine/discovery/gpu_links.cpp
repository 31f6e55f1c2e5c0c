// Tests: tests/engine/discovery/gpu_links_test.cpp.
#include "engine/discovery/gpu_links.h"

#include <algorithm>
#include <cstdio>

#include "engine/discovery/nvml_gpus.h"
#include "hios/discovery/machine.h"

namespace hios::discovery {
namespace {

std::ptrdiff_t to_switches(const GpuPlace& place) {
  return std::ranges::count_if(place.links, [](const auto& link) { return link.second; });
}

}  // namespace

std::vector<std::pair<std::string, bool>> nvlinks_of(const std::string& address,
                                                     const std::string& library) {
  std::vector<std::pair<std::string, bool>> links;
  for (const NvidiaGpu& gpu : nvml_gpus(library)) {
    if (gpu.address != address) continue;
    for (const NvidiaLink& link : gpu.links) links.emplace_back(link.peer, link.to_switch);
  }
  return links;
}

std::string short_pci_address(const std::string& text) {
  unsigned domain = 0, bus = 0, device = 0, function = 0;
  if (std::sscanf(text.c_str(), "%x:%x:%x.%x", &domain, &bus, &device, &function) != 4) return {};
  return pci_address(domain, bus, device, function);
}

std::string link_between(const GpuPlace& a, const GpuPlace& b) {
  if (a.address.empty() || b.address.empty()) return {};
  if (a.host != b.host) return "net";
  if (a.address == b.address) return "same";
  const std::ptrdiff_t direct = std::ranges::count_if(
      a.links, [&](const auto& link) { return !link.second && link.first == b.address; });
  const std::ptrdiff_t switched = std::min(to_switches(a), to_switches(b));
  if (direct + switched > 0) return "NV" + std::to_string(direct + switched);
  if (!a.numa_node || !b.numa_node) return "PCIe";
  return a.numa_node == b.numa_node ? "NODE" : "SYS";
}

}  // namespace hios::discovery
