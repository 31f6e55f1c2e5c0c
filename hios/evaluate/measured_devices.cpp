#include "hios/evaluate/measured_devices.h"

#include <algorithm>
#include <cstdio>
#include <utility>
#include <vector>

#include "hios/evaluate/blocks.h"
#include "hios/profile/profile_gaps.h"

// Fast memory is not the size of a cache. Caches have levels and are shared, also with strangers,
// and a cache that is read cyclically loses nearly everything as soon as it is a little too small.
// A plan needs the times of a device's operators in a block of the network and in the whole, and
// both are measured, on all ranks at once. Eq. 2 is the straight line through the two: the whole
// network with its weights and tensors holds A bytes and takes `cold`; blocks of up to H bytes take
// `warm`. With H as the fast memory's size and (A − H) / (cold − warm) as the speed of the rest,
// Eq. 3 gives both times. Tests: tests/hios/evaluate/measured_devices_test.cpp.
namespace hios {
namespace {

/// The relative difference between repeated sweeps on a quiet machine.
constexpr double kLeastGain = 0.01;

/// The warm and cold times of all operators of a graph.
struct Warmth {
  double warm_ms = 0, cold_ms = 0;
  Bytes part_bytes = 0;   ///< most bytes that a measured block held
  Bytes whole_bytes = 0;  ///< bytes that the whole graph holds
};

/// REQUIRES: has_warm_times().
Warmth warmth_of(const Graph& graph, const Configuration& configuration) {
  Warmth sum;
  for (const Operator& op : graph.operators()) {
    const WarmMeasurement& measured = configuration.warm.find(op.signature)->second;
    sum.warm_ms += measured.ms;
    sum.cold_ms += measured.cold_ms;
    sum.part_bytes = std::max(sum.part_bytes, measured.held_bytes);
    sum.whole_bytes += op.parameter_bytes;
  }
  sum.whole_bytes += peak_bytes(graph, graph.topological());
  return sum;
}

std::string with_digits(double value, int digits) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

std::string percent(double share) { return with_digits(100 * share, 0) + " %"; }

}  // namespace

std::string charge_text(const Configuration& configuration) {
  if (!configuration.io_charge) {
    return "transfers occupy both devices for all their time (not measured)";
  }
  const IoCharge& charge = configuration.io_charge->charge;
  return "transfers occupy the sender for " + percent(charge.send) + " and the receiver for " +
         percent(charge.receive) + " of their time between waiting ranks (measured)";
}

std::string warmth_text(const Graph& graph, const Configuration& configuration) {
  if (!has_warm_times(graph, configuration)) return "";
  const Warmth sum = warmth_of(graph, configuration);
  std::string text = "operators take " + with_digits(sum.cold_ms, 3) +
                     " ms in the whole network and " + with_digits(sum.warm_ms, 3) +
                     " ms in blocks of it";
  if (const auto memory = measured_fast_memory(graph, configuration)) {
    text += ": bytes that a device holds beyond " +
            with_digits(static_cast<double>(memory->bytes) / (1 << 20), 1) +
            " MiB are read again at " + with_digits(memory->gb_per_s, 1) + " GB/s";
  }
  return text + " (measured)";
}

std::optional<FastMemory> measured_fast_memory(const Graph& graph,
                                               const Configuration& configuration) {
  if (!has_warm_times(graph, configuration)) return {};
  const Warmth sum = warmth_of(graph, configuration);
  const double gain_ms = sum.cold_ms - sum.warm_ms;
  if (gain_ms <= kLeastGain * sum.cold_ms || sum.part_bytes == 0) return {};
  if (sum.whole_bytes <= sum.part_bytes) return {};
  const double beyond = static_cast<double>(sum.whole_bytes - sum.part_bytes);
  return FastMemory{sum.part_bytes, std::clamp(beyond / (gain_ms * 1e6), kMinGbPerS, kMaxGbPerS)};
}

Platform with_measured(const Graph& graph, const Platform& platform, const Profile& profile,
                       std::span<const SetByPlatform> set) {
  std::vector<Device> devices(platform.devices().begin(), platform.devices().end());
  for (std::size_t d = 0; d < devices.size(); ++d) {
    const Configuration* const measured = profile.find(platform, DeviceId(d));
    if (!measured) continue;
    const SetByPlatform of_device = set.empty() ? SetByPlatform{} : set[d];
    if (!of_device.io_charge && measured->io_charge)
      devices[d].io_charge = measured->io_charge->charge;
    if (of_device.fast_memory || devices[d].streams > 1) continue;
    if (const auto memory = measured_fast_memory(graph, *measured))
      devices[d].fast_memory = *memory;
  }
  return platform.with_devices(std::move(devices));
}

std::string measured_devices_text(const Graph& graph, const Platform& platform,
                                  const Profile& profile, std::span<const SetByPlatform> set) {
  std::vector<const Configuration*> described;
  std::string text;
  for (std::size_t d = 0; d < platform.size(); ++d) {
    const Configuration* const measured = profile.find(platform, DeviceId(d));
    if (!measured || std::ranges::find(described, measured) != described.end()) continue;
    described.push_back(measured);
    const std::string whose = platform.alike() ? "" : platform.device(DeviceId(d)).kind + ": ";
    const SetByPlatform of_device = set.empty() ? SetByPlatform{} : set[d];
    if (!of_device.io_charge) text += whose + charge_text(*measured) + "\n";
    if (of_device.fast_memory || platform.device(DeviceId(d)).streams > 1) continue;
    const std::string warmth = warmth_text(graph, *measured);
    if (!warmth.empty()) text += whose + warmth + "\n";
  }
  return text;
}

}  // namespace hios
