#include "hios/platform/topology.h"

#include <algorithm>
#include <set>
#include <utility>

#include "hios/base/error.h"
#include "hios/platform/platform.h"

namespace hios {
namespace {

std::uint64_t ends_key(const Holder& from, DeviceId to) {
  const std::uint64_t of_store = std::holds_alternative<StoreId>(from) ? 1 : 0;
  const std::uint64_t index =
      std::visit([](auto id) { return static_cast<std::uint64_t>(id.index()); }, from);
  return index << 33 | of_store << 32 | to.index();
}

void check_name(std::string_view what, const std::string& name, std::set<std::string>& names) {
  if (name.empty())
    throw InputError("platform: a " + std::string(what) + " has no name; give it one");
  if (!names.insert(name).second) {
    throw InputError("platform: " + std::string(what) + " '" + printable(name) +
                     "' has the name of another; rename one");
  }
}

void check_speed(double gb_per_s, const std::string& which) {
  if (!(gb_per_s >= kMinGbPerS)) {
    throw InputError("platform: " + which + " has no bandwidth; give gb_per_s of 1e-9 at least");
  }
}

/// The names of a topology's ends and buses, for the checks of its routes.
struct HolderNames {
  std::span<const Store> stores;
  std::span<const Bus> buses;
  std::span<const std::string> devices;

  /// Returns an empty name where there is no such holder.
  std::string of(const Holder& holder) const {
    if (const auto* device = std::get_if<DeviceId>(&holder)) {
      return device->index() < devices.size() ? devices[device->index()] : "";
    }
    const StoreId store = std::get<StoreId>(holder);
    return store.index() < stores.size() ? stores[store.index()].name : "";
  }
  std::string of(const Route& route) const {
    return "the route from '" + printable(of(route.from)) + "' to '" + printable(of(route.to)) +
           "'";
  }
};

void check_route(const Route& route, const HolderNames& names) {
  if (names.of(route.from).empty() || names.of(Holder(route.to)).empty()) {
    throw InputError("platform: a route has an end that is neither a store nor a device");
  }
  const std::string which = names.of(route);
  if (route.from == Holder(route.to)) {
    throw InputError("platform: " + which + " stays on one device; remove it");
  }
  check_speed(route.gb_per_s, which);
  if (!(route.latency_ms >= 0)) {
    throw InputError("platform: " + which + " has a latency_ms below 0; give 0 or more");
  }
  if (!(route.start_ms >= 0)) {
    throw InputError("platform: " + which + " has a start_ms below 0; give 0 or more");
  }
  for (const double factor : {route.slowdown, route.load_slowdown}) {
    if (factor >= 1 && factor <= kMostSlowdown) continue;
    throw InputError("platform: " + which +
                     " has a slowdown that is not in 1 to 16; leave it out where there is none");
  }
  std::set<BusId> over;
  for (const BusId bus : route.over) {
    if (bus.index() >= names.buses.size()) {
      throw InputError("platform: " + which + " goes over a bus that is not there");
    }
    if (!over.insert(bus).second) {
      throw InputError("platform: " + which + " goes over bus '" +
                       printable(names.buses[bus.index()].name) + "' twice; name it once");
    }
  }
}

}  // namespace

std::string_view to_string(StoreKind kind) { return kind == StoreKind::kDisk ? "disk" : "memory"; }

Topology::Topology(std::vector<Store> stores, std::vector<Bus> buses, std::vector<Route> routes,
                   std::span<const std::string> device_names)
    : stores_(std::move(stores)), buses_(std::move(buses)), routes_(std::move(routes)) {
  std::set<std::string> holders(device_names.begin(), device_names.end()), names;
  for (const Store& store : stores_) check_name("store", store.name, holders);
  for (const Bus& bus : buses_) {
    check_name("bus", bus.name, names);
    check_speed(bus.gb_per_s, "bus '" + printable(bus.name) + "'");
  }
  if (routes_.empty()) throw InputError("platform: stores and buses need routes; give one");
  const HolderNames known{stores_, buses_, device_names};
  for (std::size_t r = 0; r < routes_.size(); ++r) {
    const Route& route = routes_[r];
    check_route(route, known);
    double alone = route.gb_per_s;
    for (const BusId bus : route.over) alone = std::min(alone, this->bus(bus).gb_per_s);
    alone_gb_per_s_.push_back(alone);
    if (!by_ends_.emplace(ends_key(route.from, route.to), RouteId(r)).second) {
      throw InputError("platform: " + known.of(route) + " is given twice; remove one");
    }
  }
}

bool Topology::has_slowdowns() const {
  return std::ranges::any_of(
      routes_, [](const Route& route) { return route.slowdown > 1 || route.load_slowdown > 1; });
}

std::optional<RouteId> Topology::find(const Holder& from, DeviceId to) const {
  const auto found = by_ends_.find(ends_key(from, to));
  if (found == by_ends_.end()) return std::nullopt;
  return found->second;
}

std::optional<StoreId> Topology::find_store(std::string_view name) const {
  for (std::size_t s = 0; s < stores_.size(); ++s) {
    if (stores_[s].name == name) return StoreId(s);
  }
  return std::nullopt;
}

}  // namespace hios
