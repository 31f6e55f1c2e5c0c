#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "hios/base/ids.h"
#include "hios/base/numbers/precision.h"
#include "hios/platform/device_identity.h"
#include "hios/platform/topology.h"

namespace hios {

/// The kind of devices that compute on a GPU.
inline constexpr std::string_view kGpuKind = "gpu";

/// The share of a transfer's time during which its two ends run no stage. It is more than 1 where a
/// transfer takes longer between computing devices than between waiting ones. A device without a
/// charge: with many inferences in flight, all of the time, as in the model of Archer, Fahrbach,
/// Liu and Prabhu, "Practical Performance Guarantees for Pipelined DNN Inference", section 2.2;
/// with one inference at a time, nothing.
struct IoCharge {
  double send = 1;     ///< in [0, kMostIoCharge]
  double receive = 1;  ///< in [0, kMostIoCharge]
  bool operator==(const IoCharge&) const = default;
};

inline constexpr double kMostIoCharge = 100;

/// Memory close to the computing unit. Bytes that a device holds beyond it are read from slower
/// memory for each inference (Archer et al., Eq. 2).
struct FastMemory {
  Bytes bytes = 0;  ///< 0: all memory is as fast
  double gb_per_s =
      0;  ///< bandwidth of the slower memory, 10⁹ bytes a second; above 0 where `bytes` is
  bool operator==(const FastMemory&) const = default;
};

struct Device {
  std::string name;        ///< unique: "cpu0"
  std::string kind;        ///< "cpu", "cpu-avx2", "gpu": the key into profiles
  int threads = 1;         ///< cores of a CPU rank; 0 for a GPU
  int streams = 1;         ///< L: the most groups in a stage
  Bytes memory_bytes = 0;  ///< 0: no limit
  std::string host;
  Precision precision = Precision::kFp32;  ///< arithmetic; part of the key into profiles
  DeviceIdentity identity = {};            ///< required GPU ("gpu" in files); empty: any
  std::optional<IoCharge> io_charge = {};
  FastMemory fast_memory = {};
  /// Returns the charge where many inferences are in flight.
  IoCharge charge_in_flight() const { return io_charge.value_or(IoCharge{}); }
  bool operator==(const Device&) const = default;
};

/// The range of bandwidths. Below one byte a second, times are not finite any more.
inline constexpr double kMinGbPerS = 1e-9;
/// The largest bandwidth that a platform may have.
inline constexpr double kMaxGbPerS = 1e9;

struct Link {
  double latency_ms = 0;
  double gb_per_s = 0;  ///< 10⁹ bytes a second
  double transfer_ms(Bytes size_bytes) const {
    return latency_ms + static_cast<double>(size_bytes) / (gb_per_s * 1e6);
  }
  bool operator==(const Link&) const = default;
};

/// The rule by which transfers wait for each other.
enum class Contention {
  kNone,  ///< no transfer waits
  kLink,  ///< an ordered pair of devices carries one tensor at a time
  kPort,  ///< a device sends one tensor at a time, and receives one tensor at a time
};
std::string_view to_string(Contention contention);

/// The rule by which a tensor gets from one device to another.
enum class Routing {
  kDirect,  ///< over the link between the two, or the default link
  kWidest,  ///< over the path of links with the widest bottleneck (hios/platform/widest_paths.h)
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
  /// Throws InputError: a device name twice or empty; a link from a device to itself, to an unknown
  /// device, given twice, or without bandwidth; devices whose tensors' elements differ in size
  /// (fp16 and fp32), since tensors are sent as they are in memory; more devices than
  /// widest_paths() serves.
  Platform(std::vector<Device> devices,
           std::vector<std::tuple<DeviceId, DeviceId, Link>> links = {},
           std::optional<Link> default_link = {}, Traffic traffic = {});
  /// Makes a platform whose routes price all traffic: messages between devices and loads of
  /// parameters, which share its buses. Throws InputError as the constructor above and Topology do.
  Platform(std::vector<Device> devices, std::vector<Store> stores, std::vector<Bus> buses,
           std::vector<Route> routes);

  /// Returns M equal devices, kind0 … kind(M−1), without links.
  static Platform homogeneous(std::size_t devices, std::string_view kind, int threads, int streams,
                              Precision precision = Precision::kFp32);

  /// Returns the links, or the stores, buses and routes, of this platform among other devices, one
  /// for each of its own. Throws InputError as the constructors do. REQUIRES: as many devices.
  Platform with_devices(std::vector<Device> devices) const;
  /// Returns a copy with these required identities, one a device; an empty one changes nothing.
  Platform with_identities(const std::vector<DeviceIdentity>& identities) const;
  /// Returns true if all devices have the same kind and identity.
  bool alike() const;

  std::size_t size() const { return devices_.size(); }
  /// Returns the size of a tensor's element, the same on every device.
  Bytes element_bytes() const;
  std::span<const Device> devices() const { return devices_; }
  const Device& device(DeviceId id) const { return devices_[id.index()]; }
  /// Returns the link from one device to another, or the default link, or nothing. A link given in
  /// one direction serves the other where that one is not given. With Routing::kWidest, returns the
  /// path of links as one link; the default link serves pairs without a path. With a topology,
  /// returns the route as a link, with the bandwidth of a flow that has its buses to itself.
  std::optional<Link> link(DeviceId from, DeviceId to) const;
  std::optional<DeviceId> find(std::string_view name) const;  ///< in O(log M)
  /// Returns the links as given, in order, for writing a platform out.
  std::span<const std::tuple<DeviceId, DeviceId, Link>> links() const { return links_; }
  const std::optional<Link>& default_link() const { return default_link_; }
  const Traffic& traffic() const { return traffic_; }
  Contention contention() const { return traffic_.contention; }
  /// Returns null where the platform has links.
  const Topology* topology() const { return topology_.get(); }

 private:
  std::vector<Device> devices_;
  std::vector<std::tuple<DeviceId, DeviceId, Link>> links_;
  std::optional<Link> default_link_;
  Traffic traffic_;
  std::shared_ptr<const Topology> topology_;
  std::vector<std::size_t> by_name_;                 // indices of devices_
  std::unordered_map<std::uint64_t, Link> by_pair_;  // given links, in both directions; or paths
};

}  // namespace hios
