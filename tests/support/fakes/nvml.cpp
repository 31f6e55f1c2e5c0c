// A library with NVML's functions that HIOS calls, for two GPUs that are not there: 0000:3b:00.0,
// and 0001:3c:00.0, of which less is reported. With HIOS_EMULATED_GPUS they are those of
// tests/support/emulated_cuda.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <initializer_list>

namespace {

struct PciInfo {
  char bus_id_legacy[16];
  unsigned domain, bus, device, device_id, subsystem_id;
  char bus_id[32];
};
struct MemoryInfo {
  unsigned long long total, free, used;
};

constexpr int kNotSupported = 3, kNotFound = 6;
constexpr int kClockSm = 1;

#ifdef HIOS_EMULATED_GPUS
constexpr unsigned domain_of(unsigned) { return 0xffff; }
constexpr unsigned bus_of(unsigned gpu) { return gpu; }
#else
constexpr unsigned domain_of(unsigned gpu) { return gpu; }
constexpr unsigned bus_of(unsigned gpu) { return 0x3b + gpu; }
#endif

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
int nvmlDeviceGetHandleByPciBusId_v2(const char* bus_id, void** device) {
  unsigned domain = 0, bus = 0;
  if (std::sscanf(bus_id, "%x:%x:", &domain, &bus) != 2) return kNotFound;
  for (const unsigned gpu : {0u, 1u}) {
    if (domain == domain_of(gpu) && bus == bus_of(gpu)) {
      return nvmlDeviceGetHandleByIndex_v2(gpu, device);
    }
  }
  return kNotFound;
}
int nvmlSystemGetDriverVersion(char* text, unsigned size) {
  std::strncpy(text, "580.65.06", size);
  return 0;
}
int nvmlDeviceGetClockInfo(void* device, int clock, unsigned* mhz) {
  *mhz = clock == kClockSm ? 1755 : 2619;
  return index_of(device) == 0 ? 0 : kNotSupported;
}
int nvmlDeviceGetMaxClockInfo(void*, int clock, unsigned* mhz) {
  *mhz = clock == kClockSm ? 1980 : 2619;
  return 0;
}
int nvmlDeviceGetTemperature(void*, int sensor, unsigned* celsius) {
  *celsius = 41;
  return sensor == 0 ? 0 : kNotSupported;
}
int nvmlDeviceGetPowerUsage(void* device, unsigned* milliwatts) {
  *milliwatts = 350'000;
  return index_of(device) == 0 ? 0 : kNotSupported;
}
int nvmlDeviceGetCurrentClocksThrottleReasons(void* device, unsigned long long* bits) {
  *bits = 0x4 | 0x20;
  return index_of(device) == 0 ? 0 : kNotSupported;
}
int nvmlDeviceGetPciInfo_v3(void* device, PciInfo* pci) {
  *pci = {};
  pci->domain = domain_of(index_of(device));
  pci->bus = bus_of(index_of(device));
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
  pci->domain = domain_of(1);
  pci->bus = link == 0 ? bus_of(1) : 0xc1;
  return 0;
}
int nvmlDeviceGetNvLinkRemoteDeviceType(void*, unsigned link, unsigned* type) {
  *type = link == 0 ? 0 : 2;
  return 0;
}
}
