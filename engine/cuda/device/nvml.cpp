// The toolkit need not contain nvml.h, and a machine without a driver has no libnvidia-ml. So the
// few functions used here are looked up by name, and declared as NVML documents them. All return 0
// for success and take an opaque device.
#include "engine/cuda/device/nvml.h"

#include <dlfcn.h>

#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "hios/base/error.h"

namespace hios::cuda {
namespace {

using NvmlDevice = void*;
constexpr int kNvmlClockSm = 1;
constexpr int kNvmlClockMemory = 2;
constexpr int kNvmlTemperatureGpu = 0;

class Nvml {
 public:
  Nvml() : library_(dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL)) {
    if (library_ == nullptr) return;
    const auto init = find<int (*)()>("nvmlInit_v2");
    started_ = init != nullptr && init() == 0;
  }
  ~Nvml() {
    if (started_) {
      if (const auto stop = find<int (*)()>("nvmlShutdown")) stop();
    }
    if (library_ != nullptr) dlclose(library_);
  }
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  bool started() const { return started_; }

  template <class Function>
  Function find(const char* name) const {
    return reinterpret_cast<Function>(dlsym(library_, name));
  }
  /// Calls `name(arguments…, &value)`; returns nothing if the library lacks it or it fails.
  template <class Value, class... Arguments>
  std::optional<Value> ask(const char* name, Arguments... arguments) const {
    Value value{};
    const auto function = find<int (*)(Arguments..., Value*)>(name);
    if (function == nullptr || function(arguments..., &value) != 0) return {};
    return value;
  }

 private:
  void* library_;
  bool started_ = false;
};

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

Json nvml_readings(const std::string& bus_id) {
  const Nvml nvml;
  if (!nvml.started()) return {{"unavailable", "libnvidia-ml.so.1 cannot be opened"}};
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
