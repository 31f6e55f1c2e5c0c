#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

#include "hios/base/ids.h"

/// Buses of a server, or of several, and the routes over them, by which parameters and tensors
/// travel (Namkoong, Park, Jung, Kim and Park, "SortingHat: System Topology-aware Scheduling of
/// Deep Neural Network Models on Multi-GPU Systems", section 2.2).
namespace hios {

using StoreId = Id<struct StoreTag>;  ///< a store of the Topology
using BusId = Id<struct BusTag>;      ///< a bus of the Topology
using RouteId = Id<struct RouteTag>;  ///< a route of the Topology

enum class StoreKind { kMemory, kDisk };
std::string_view to_string(StoreKind kind);

/// Memory or a disk that keeps the parameters of all operators.
struct Store {
  std::string name;  ///< unique among stores and devices: "dram"
  std::string host;
  StoreKind kind = StoreKind::kMemory;
  bool operator==(const Store&) const = default;
};

/// One direction of a bus, a switch or a cable: flows over it share its bandwidth.
struct Bus {
  std::string name;     ///< unique among buses
  double gb_per_s = 0;  ///< 10⁹ bytes a second
  bool operator==(const Bus&) const = default;
};

/// A store or a device: an end of routes.
using Holder = std::variant<StoreId, DeviceId>;

/// The largest slowdown that a route may have.
inline constexpr double kMostSlowdown = 16;

/// A way for bytes from one holder to a device. A flow waits the latency, in which it uses nothing,
/// and then moves its bytes over all of the route's buses at one rate. Loads that use the cores of
/// a device which computes slow its operators, and are slowed by them.
struct Route {
  Holder from;
  DeviceId to;
  std::vector<BusId> over;  ///< each once, in order; may be empty
  double latency_ms = 0;
  double gb_per_s = 0;  ///< its own limit; flows on one route do not share it
  double start_ms = 0;  ///< waited in addition by the first load of a lane
  /// The device's operators take so many times as long while a load over this route is under way.
  double slowdown = 1;  ///< in [1, kMostSlowdown]
  /// The divisor of a load's limit while the device computes; of several loads, each adds what is
  /// above 1. Likewise.
  double load_slowdown = 1;
  bool operator==(const Route&) const = default;
};

/// Stores, buses and routes. Immutable; any thread may read it.
class Topology {
 public:
  /// Throws InputError: an empty name, or one twice (of stores and devices together, of buses); a
  /// bus or a route without bandwidth; a route from a device to itself, between the same ends as
  /// another, over a bus twice, or with an end or a bus that is out of range; no route.
  Topology(std::vector<Store> stores, std::vector<Bus> buses, std::vector<Route> routes,
           std::span<const std::string> device_names);

  std::span<const Store> stores() const { return stores_; }
  std::span<const Bus> buses() const { return buses_; }
  std::span<const Route> routes() const { return routes_; }
  const Store& store(StoreId id) const { return stores_[id.index()]; }
  const Bus& bus(BusId id) const { return buses_[id.index()]; }
  const Route& route(RouteId id) const { return routes_[id.index()]; }

  /// Returns the route between two ends, if there is one. In constant time.
  std::optional<RouteId> find(const Holder& from, DeviceId to) const;
  std::optional<StoreId> find_store(std::string_view name) const;
  /// Returns true if loads over some route slow operators, or are slowed by them.
  bool has_slowdowns() const;
  /// Returns the rate of a flow that has the route's buses to itself.
  double alone_gb_per_s(RouteId id) const { return alone_gb_per_s_[id.index()]; }
  /// Returns the time of a flow that has the route's buses to itself.
  double alone_ms(RouteId id, Bytes size_bytes) const {
    return route(id).latency_ms + static_cast<double>(size_bytes) / (alone_gb_per_s(id) * 1e6);
  }

  bool operator==(const Topology&) const = default;

 private:
  std::vector<Store> stores_;
  std::vector<Bus> buses_;
  std::vector<Route> routes_;
  std::vector<double> alone_gb_per_s_;  // by route
  std::unordered_map<std::uint64_t, RouteId> by_ends_;
};

}  // namespace hios
