#include "engine/backends.h"

#include <algorithm>
#include <array>

#include "engine/reference/backend.h"
#include "engine/reference/run_layer.h"
#include "hios/base/error.h"
#include "hios/base/nearest_name.h"
#include "hios/base/need.h"
#include "hios/platform/cpu_kinds.h"
#include "hios/platform/platform.h"
#ifdef HIOS_HAVE_CPU
#include "engine/cpu/backend.h"
#include "engine/cpu/streams.h"
#endif
#ifdef HIOS_HAVE_CUDA
#include "engine/cuda/backend.h"
#endif

namespace hios {
namespace {

constexpr std::string_view kAuto = "auto";

#ifdef HIOS_HAVE_CPU
constexpr auto kMakeCpu = &cpu::make_backend;
#else
constexpr std::unique_ptr<Backend> (*kMakeCpu)(const BackendOptions&) = nullptr;
#endif

#ifdef HIOS_HAVE_CUDA
constexpr auto kMakeCuda = &cuda::make_backend;
constexpr auto kVisibleGpus = &cuda::visible_devices;
constexpr auto kGpuAddresses = &cuda::device_addresses;
#else
constexpr std::unique_ptr<Backend> (*kMakeCuda)(const BackendOptions&) = nullptr;
constexpr std::vector<std::string> (*kVisibleGpus)() = nullptr;
constexpr std::vector<std::string> (*kGpuAddresses)() = nullptr;
#endif

constexpr std::array kOnlyFp32 = {Precision::kFp32};

/// Returns the row of the cpu backend with its instructions capped.
constexpr BackendEntry capped(std::string_view name, const InstructionCap& cap) {
  return {name,
          "the same with no newer instructions than these",
          cap.kind,
          kMakeCpu,
          "oneDNN was left out (HIOS_CPU=OFF)",
          "reference",
          kOnlyFp32,
          cap.name};
}

/// All backends, also those that this build lacks, in the order of preference for "auto".
constexpr std::array kBackends = {
    BackendEntry{"cpu", "CPU cores through oneDNN, NHWC, fp32", kCpuKind, kMakeCpu,
                 "oneDNN was left out (HIOS_CPU=OFF)", "reference", kOnlyFp32},
    BackendEntry{"reference", "plain loops in double precision on one core: the oracle", kCpuKind,
                 &reference::make_backend, "", "", kPrecisions},
    BackendEntry{"cuda", "NVIDIA GPUs through cuDNN", kGpuKind, kMakeCuda,
                 "CUDA was left out (HIOS_CUDA=OFF)", "cpu", kPrecisions, "", kVisibleGpus,
                 kGpuAddresses},
    capped("cpu:sse41", kInstructionCaps[0]),
    capped("cpu:avx", kInstructionCaps[1]),
    capped("cpu:avx2", kInstructionCaps[2]),
    capped("cpu:avx512_core", kInstructionCaps[3]),
};

std::string known_names(std::span<const BackendEntry> table) {
  std::string names(kAuto);
  for (const BackendEntry& entry : table) names += ", " + std::string(entry.name);
  return names;
}

}  // namespace

bool BackendEntry::has(Precision precision) const {
  return std::find(precisions.begin(), precisions.end(), precision) != precisions.end();
}

std::span<const BackendEntry> backends() { return kBackends; }

const BackendEntry& find_backend(std::string_view name, std::span<const BackendEntry> table) {
  for (const BackendEntry& entry : table) {
    if (name == kAuto && entry.make != nullptr) return entry;
    if (name != entry.name) continue;
    if (entry.make != nullptr) return entry;
    throw InputError(
        "backend '" + std::string(name) + "' is not in this build: " + std::string(entry.missing),
        need::BackendInBuild{std::string(entry.name), std::string(entry.instead)});
  }
  std::vector<std::string_view> names = {kAuto};
  for (const BackendEntry& entry : table) names.push_back(entry.name);
  throw InputError("unknown backend '" + std::string(name) + "'; known are " + known_names(table) +
                   did_you_mean(name, names));
}

LayerKernel layer_kernel() { return reference::compute_layer; }

std::span<const std::pair<std::string_view, std::string_view>> recommended_openmp_environment() {
#ifdef HIOS_HAVE_CPU
  return cpu::recommended_openmp_environment();
#else
  return {};
#endif
}

}  // namespace hios
