// Functions of NVML are declared as NVML documents them: all return 0 for success and take an
// opaque device.
#include "engine/cuda/device/nvml.h"

#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "engine/discovery/nvml_library.h"
#include "hios/base/error.h"

namespace hios::cuda {
namespace {

constexpr int kNvmlClockSm = 1;
constexpr int kNvmlClockMemory = 2;
constexpr int kNvmlTemperatureGpu = 0;

template <class Value>
void put(Json& json, const char* key, const std::optional<Value>& value) {
  if (value) json[key] = *value;
}

}  // namespace

std::vector<std::string> throttle_reasons(unsigned long long bits) {
  constexpr std::array<std::pair<unsigned long long, const char*>, 9> kReasons{{
      {0x1, "idle"},
      {0x2, "clocks_setting"},
      {0x4, "power_cap"},
      {0x8, "hardware_slowdown"},
      {0x10, "sync_boost"},
      {0x20, "software_thermal"},
      {0x40, "hardware_thermal"},
      {0x80, "hardware_power_brake"},
      {0x100, "display_clock"},
  }};
  std::vector<std::string> words;
  for (const auto& [bit, word] : kReasons) {
    if ((bits & bit) != 0) words.emplace_back(word);
    bits &= ~bit;
  }
  if (bits != 0) words.emplace_back("other");
  return words;
}

Json nvml_readings(const std::string& bus_id, const std::string& library) {
  const NvmlLibrary nvml(library);
  if (!nvml.started()) return {{"unavailable", library + " cannot be opened"}};
  const auto device = nvml.ask<NvmlDevice>("nvmlDeviceGetHandleByPciBusId_v2", bus_id.c_str());
  if (!device) return {{"unavailable", "NVML does not know this GPU"}};

  Json readings = Json::object();
  std::array<char, 96> driver{};
  const auto driver_version = nvml.find<int (*)(char*, unsigned)>("nvmlSystemGetDriverVersion");
  if (driver_version != nullptr && driver_version(driver.data(), driver.size()) == 0) {
    readings["driver"] = printable(driver.data());
  }
  const auto clock = [&](const char* name, int which) {
    return nvml.ask<unsigned>(name, *device, which);
  };
  put(readings, "sm_mhz", clock("nvmlDeviceGetClockInfo", kNvmlClockSm));
  put(readings, "sm_max_mhz", clock("nvmlDeviceGetMaxClockInfo", kNvmlClockSm));
  put(readings, "memory_mhz", clock("nvmlDeviceGetClockInfo", kNvmlClockMemory));
  put(readings, "memory_max_mhz", clock("nvmlDeviceGetMaxClockInfo", kNvmlClockMemory));
  put(readings, "temperature_c", clock("nvmlDeviceGetTemperature", kNvmlTemperatureGpu));
  put(readings, "power_mw", nvml.ask<unsigned>("nvmlDeviceGetPowerUsage", *device));
  if (const auto bits =
          nvml.ask<unsigned long long>("nvmlDeviceGetCurrentClocksThrottleReasons", *device)) {
    readings["throttled_by"] = throttle_reasons(*bits);
  }
  return readings;
}

}  // namespace hios::cuda
