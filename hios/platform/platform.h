#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "hios/base/ids.h"
#include "hios/base/json/json_io.h"
#include "hios/base/numbers/precision.h"
#include "hios/platform/device_identity.h"

namespace hios {

/// The kind of devices that compute beside the cores of a CPU.
inline constexpr std::string_view kGpuKind = "gpu";

/// How long the two ends of a transfer are busy with it and run no stage, where many inferences are
/// in flight, in parts of the transfer's time. All of it, as in the model of Archer, Fahrbach, Liu
/// and Prabhu, "Practical Performance Guarantees for Pipelined DNN Inference", section 2.2, unless
/// said. More than 1 where a transfer takes longer between devices that compute than between
/// waiting ones.
struct IoCharge {
  double send = 1;     ///< in [0, kMostIoCharge]
  double receive = 1;  ///< in [0, kMostIoCharge]
  bool operator==(const IoCharge&) const = default;
};

inline constexpr double kMostIoCharge = 100;

/// Memory beside the computing unit. What a device holds beyond it is read from slower memory
/// for each inference (the same, Eq. 2).
struct FastMemory {
  Bytes bytes = 0;      ///< 0: all memory is as fast
  double gb_per_s = 0;  ///< of the slower memory, 10⁹ bytes a second; more than 0 where bytes is
  bool operator==(const FastMemory&) const = default;
};

struct Device {
  std::string name;        ///< unique: "cpu0"
  std::string kind;        ///< "cpu", "cpu-avx2", "gpu": the key into profiles
  int threads = 1;         ///< cores of a CPU rank; 0 for a GPU
  int streams = 1;         ///< L: the most groups in a stage
  Bytes memory_bytes = 0;  ///< 0: no limit
  std::string host;
  Precision precision = Precision::kFp32;  ///< its arithmetic; part of the key into profiles
  DeviceIdentity identity = {};            ///< which one it must be, in files "gpu"; empty: any
  IoCharge io_charge = {};
  FastMemory fast_memory = {};
  bool operator==(const Device&) const = default;
};

/// A byte a second: below, times are not finite any more.
inline constexpr double kMinGbPerS = 1e-9;

struct Link {
  double latency_ms = 0;
  double gb_per_s = 0;  ///< 10⁹ bytes a second
  double transfer_ms(Bytes size_bytes) const {
    return latency_ms + static_cast<double>(size_bytes) / (gb_per_s * 1e6);
  }
  bool operator==(const Link&) const = default;
};

/// Which tensors on their way wait for each other.
enum class Contention {
  kNone,  ///< none does
  kLink,  ///< an ordered pair of devices carries one tensor at a time
  kPort,  ///< a device sends one tensor at a time, and receives one tensor at a time
};
std::string_view to_string(Contention contention);

/// How a tensor comes from one device to another.
enum class Routing {
  kDirect,  ///< by the link between the two, or the default link
  kWidest,  ///< over links by the way with the widest bottleneck (hios/platform/widest_ways.h)
};
std::string_view to_string(Routing routing);

/// The rules of a platform's links.
struct Traffic {
  Contention contention = Contention::kNone;
  Routing routing = Routing::kDirect;
  bool operator==(const Traffic&) const = default;
};

/// M devices and the links between them. Immutable; any thread may read it.
class Platform {
 public:
  Platform() = default;
  /// Throws InputError: a device name twice or empty, a link from a device to itself, to a device
  /// that is not there, given twice, or without bandwidth; devices whose tensors' elements differ
  /// in size (fp16 beside fp32), since tensors are sent as they are in memory; more devices than
  /// widest ways are looked for.
  Platform(std::vector<Device> devices,
           std::vector<std::tuple<DeviceId, DeviceId, Link>> links = {},
           std::optional<Link> default_link = {}, Traffic traffic = {});

  /// M devices in short: kind0 … kind(M−1), all alike, no links.
  static Platform homogeneous(std::size_t devices, std::string_view kind, int threads, int streams,
                              Precision precision = Precision::kFp32);

  /// The same with devices that must be these, one a device; an empty one leaves what was named.
  Platform with_identities(const std::vector<DeviceIdentity>& identities) const;
  /// Whether all devices are of one kind and identity.
  bool alike() const;

  std::size_t size() const { return devices_.size(); }
  /// Of a tensor's element on every device.
  Bytes element_bytes() const;
  std::span<const Device> devices() const { return devices_; }
  const Device& device(DeviceId id) const { return devices_[id.index()]; }
  /// The link from one device to another, else the default link, else nothing. A link given in one
  /// direction serves the other where that one is not given. With Routing::kWidest the way over
  /// links, as one link; the default link serves pairs without a way.
  std::optional<Link> link(DeviceId from, DeviceId to) const;
  std::optional<DeviceId> find(std::string_view name) const;  ///< in log M
  /// As given, in order, for writing a platform out.
  std::span<const std::tuple<DeviceId, DeviceId, Link>> links() const { return links_; }
  const std::optional<Link>& default_link() const { return default_link_; }
  const Traffic& traffic() const { return traffic_; }
  Contention contention() const { return traffic_.contention; }

 private:
  std::vector<Device> devices_;
  std::vector<std::tuple<DeviceId, DeviceId, Link>> links_;
  std::optional<Link> default_link_;
  Traffic traffic_;
  std::vector<std::size_t> by_name_;  // indices of devices_
  std::unordered_map<std::uint64_t, Link>
      by_pair_;  // given links and those that serve both ways; or ways
};

/// `hios-platform`, to and from JSON.
Platform platform_from_json(const JsonView& root);
Json to_json(const Platform& platform);

}  // namespace hios
