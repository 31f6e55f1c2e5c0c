// Functions of NVML are declared as NVML documents them: all return 0 for success.
// tests/engine/discovery/nvml_gpus_test.cpp, with a library of its own.
#include "engine/discovery/nvml_gpus.h"

#include <algorithm>
#include <array>
#include <optional>

#include "engine/discovery/nvml_library.h"

namespace hios::discovery {
namespace {

constexpr unsigned kMostLinks = 18;  // of a GPU
constexpr unsigned kToSwitch = 2;    // a kind of remote device
constexpr unsigned kMostGpus = 1024;

/// nvmlPciInfo_t.
struct PciInfo {
  std::array<char, 16> bus_id_legacy;
  unsigned domain, bus, device, device_id, subsystem_id;
  std::array<char, 32> bus_id;
};

/// nvmlMemory_t.
struct MemoryInfo {
  unsigned long long total, free, used;
};

std::string name_of(const NvmlLibrary& nvml, NvmlDevice device) {
  std::array<char, 128> text{};
  const auto function = nvml.find<int (*)(NvmlDevice, char*, unsigned)>("nvmlDeviceGetName");
  if (function == nullptr || function(device, text.data(), unsigned{text.size() - 1}) != 0)
    return {};
  return text.data();
}

std::string address_of(const PciInfo& pci) {
  return pci_address(pci.domain, pci.bus, pci.device, 0);
}

std::vector<NvidiaLink> links_of(const NvmlLibrary& nvml, NvmlDevice device) {
  std::vector<NvidiaLink> links;
  for (unsigned link = 0; link < kMostLinks; ++link) {
    if (nvml.ask<int>("nvmlDeviceGetNvLinkState", device, link).value_or(0) == 0) continue;
    const auto version = nvml.ask<unsigned>("nvmlDeviceGetNvLinkVersion", device, link);
    const auto peer = nvml.ask<PciInfo>("nvmlDeviceGetNvLinkRemotePciInfo_v2", device, link);
    const auto gb_per_s = nvlink_gb_per_s(version.value_or(0));
    if (!peer || !gb_per_s) continue;
    const auto kind = nvml.ask<unsigned>("nvmlDeviceGetNvLinkRemoteDeviceType", device, link);
    links.push_back({address_of(*peer), kind.value_or(0) == kToSwitch, *gb_per_s});
  }
  return links;
}

}  // namespace

std::vector<NvidiaGpu> nvml_gpus(const std::string& library) {
  const NvmlLibrary nvml(library);
  if (!nvml.started()) return {};
  const unsigned count = nvml.ask<unsigned>("nvmlDeviceGetCount_v2").value_or(0);
  std::vector<NvidiaGpu> gpus;
  for (unsigned index = 0; index < std::min(count, kMostGpus); ++index) {
    const auto device = nvml.ask<NvmlDevice>("nvmlDeviceGetHandleByIndex_v2", index);
    const auto pci = device ? nvml.ask<PciInfo>("nvmlDeviceGetPciInfo_v3", *device) : std::nullopt;
    if (!pci) continue;
    NvidiaGpu gpu{.address = address_of(*pci), .model = name_of(nvml, *device)};
    if (const auto memory = nvml.ask<MemoryInfo>("nvmlDeviceGetMemoryInfo", *device))
      gpu.memory_bytes = static_cast<Bytes>(memory->total);
    const auto generation = nvml.ask<unsigned>("nvmlDeviceGetMaxPcieLinkGeneration", *device);
    const auto lanes = nvml.ask<unsigned>("nvmlDeviceGetMaxPcieLinkWidth", *device);
    gpu.pcie_gb_per_s = pcie_gb_per_s(generation.value_or(0), lanes.value_or(0));
    gpu.links = links_of(nvml, *device);
    gpus.push_back(std::move(gpu));
  }
  return gpus;
}

}  // namespace hios::discovery
