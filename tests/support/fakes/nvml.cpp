// A library with NVML's functions that HIOS calls, for two GPUs that are not there.
#include <cstdint>
#include <cstring>

namespace {

struct PciInfo {
  char bus_id_legacy[16];
  unsigned domain, bus, device, device_id, subsystem_id;
  char bus_id[32];
};
struct MemoryInfo {
  unsigned long long total, free, used;
};

constexpr int kNotSupported = 3;

unsigned index_of(void* device) {
  return static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(device)) - 1;
}

}  // namespace

extern "C" {

int nvmlInit_v2() { return 0; }
int nvmlShutdown() { return 0; }
int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = 2;
  return 0;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  *device = reinterpret_cast<void*>(std::uintptr_t{index} + 1);
  return 0;
}
int nvmlDeviceGetPciInfo_v3(void* device, PciInfo* pci) {
  *pci = {};
  pci->domain = index_of(device);
  pci->bus = 0x3b + index_of(device);
  return 0;
}
int nvmlDeviceGetName(void*, char* text, unsigned size) {
  std::strncpy(text, "NVIDIA Test", size);
  return 0;
}
int nvmlDeviceGetMemoryInfo(void*, MemoryInfo* memory) {
  *memory = {80ULL << 30, 0, 0};
  return 0;
}
int nvmlDeviceGetMaxPcieLinkGeneration(void* device, unsigned* generation) {
  *generation = 4;
  return index_of(device) == 0 ? 0 : kNotSupported;
}
int nvmlDeviceGetMaxPcieLinkWidth(void*, unsigned* lanes) {
  *lanes = 16;
  return 0;
}
int nvmlDeviceGetNvLinkState(void* device, unsigned link, int* active) {
  *active = index_of(device) == 0 && link < 3 ? 1 : 0;
  return 0;
}
int nvmlDeviceGetNvLinkVersion(void*, unsigned link, unsigned* version) {
  *version = link == 2 ? 99 : 4;
  return 0;
}
int nvmlDeviceGetNvLinkRemotePciInfo_v2(void*, unsigned link, PciInfo* pci) {
  *pci = {};
  pci->domain = 1;
  pci->bus = link == 0 ? 0x3c : 0xc1;
  return 0;
}
int nvmlDeviceGetNvLinkRemoteDeviceType(void*, unsigned link, unsigned* type) {
  *type = link == 0 ? 0 : 2;
  return 0;
}
}
