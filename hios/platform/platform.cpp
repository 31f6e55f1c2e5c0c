#include "hios/platform/platform.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "hios/base/error.h"
#include "hios/platform/widest_paths.h"

namespace hios {
namespace {

/// Returns the devices' indices in the order of their names. Throws where a name is empty or there
/// twice.
std::vector<std::size_t> sorted_by_name(const std::vector<Device>& devices) {
  std::vector<std::size_t> order(devices.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto name = [&](std::size_t i) -> const std::string& { return devices[i].name; };
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return name(a) < name(b); });
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (name(order[i]).empty()) {
      throw InputError("platform: a device has no name; give it one");
    }
    if (i > 0 && name(order[i]) == name(order[i - 1])) {
      throw InputError("platform: two devices are named '" + printable(name(order[i])) +
                       "'; rename one");
    }
  }
  return order;
}

std::uint64_t pair_key(DeviceId from, DeviceId to) {
  return static_cast<std::uint64_t>(from.index()) << 32 | to.index();
}

void check_link(const Link& link, const std::string& which) {
  if (!(link.gb_per_s >= kMinGbPerS)) {
    throw InputError("platform: " + which + " has no bandwidth; give gb_per_s of 1e-9 at least");
  }
}

/// Throws where not all devices keep elements of one size.
void check_elements(const std::vector<Device>& devices) {
  for (const Device& device : devices) {
    const Device& first = devices.front();
    if (element_bytes(device.precision) == element_bytes(first.precision)) continue;
    throw InputError("platform: '" + printable(first.name) + "' computes in " +
                     std::string(to_string(first.precision)) + " and '" + printable(device.name) +
                     "' in " + std::string(to_string(device.precision)) +
                     ", whose tensors are not of one size; give all devices fp16, or none");
  }
}

/// Returns the widest path of each pair of devices, as one link.
std::unordered_map<std::uint64_t, Link> routed(
    std::size_t devices, const std::unordered_map<std::uint64_t, Link>& by_pair) {
  std::vector<DirectedLink> links;
  for (const auto& [key, link] : by_pair) {
    links.push_back({DeviceId(key >> 32), DeviceId(key & 0xffffffffu), link});
  }
  std::unordered_map<std::uint64_t, Link> paths;
  for (const DirectedLink& path : widest_paths(devices, std::move(links))) {
    paths.emplace(pair_key(path.from, path.to), path.link);
  }
  return paths;
}

}  // namespace

std::string_view to_string(Contention contention) {
  switch (contention) {
    case Contention::kLink:
      return "link";
    case Contention::kPort:
      return "port";
    case Contention::kNone:
      break;
  }
  return "none";
}

std::string_view to_string(Routing routing) {
  return routing == Routing::kWidest ? "widest" : "direct";
}

Platform::Platform(std::vector<Device> devices,
                   std::vector<std::tuple<DeviceId, DeviceId, Link>> links,
                   std::optional<Link> default_link, Traffic traffic)
    : devices_(std::move(devices)),
      links_(std::move(links)),
      default_link_(default_link),
      traffic_(traffic) {
  by_name_ = sorted_by_name(devices_);
  check_elements(devices_);
  if (default_link_) check_link(*default_link_, "the default link");
  for (const auto& [from, to, link] : links_) {
    if (from.index() >= size() || to.index() >= size()) {
      throw InputError("platform: a link names device " +
                       std::to_string(std::max(from.index(), to.index())) +
                       ", but there are only " + std::to_string(size()));
    }
    const std::string which = "the link from '" + printable(device(from).name) + "' to '" +
                              printable(device(to).name) + "'";
    if (from == to) throw InputError("platform: " + which + " stays on one device; remove it");
    check_link(link, which);
    if (!by_pair_.emplace(pair_key(from, to), link).second) {
      throw InputError("platform: " + which + " is given twice; remove one");
    }
  }
  for (const auto& [from, to, link] : links_) by_pair_.emplace(pair_key(to, from), link);
  if (traffic_.routing == Routing::kWidest) by_pair_ = routed(size(), by_pair_);
}

Platform::Platform(std::vector<Device> devices, std::vector<Store> stores, std::vector<Bus> buses,
                   std::vector<Route> routes)
    : Platform(std::move(devices)) {
  std::vector<std::string> names;
  for (const Device& device : devices_) names.push_back(device.name);
  topology_ = std::make_shared<const Topology>(std::move(stores), std::move(buses),
                                               std::move(routes), names);
}

Bytes Platform::element_bytes() const {
  return hios::element_bytes(devices_.empty() ? Precision::kFp32 : devices_.front().precision);
}

Platform Platform::homogeneous(std::size_t devices, std::string_view kind, int threads, int streams,
                               Precision precision) {
  std::vector<Device> all;
  for (std::size_t i = 0; i < devices; ++i) {
    Device device;
    device.name = std::string(kind) + std::to_string(i);
    device.kind = kind;
    device.threads = threads;
    device.streams = streams;
    device.precision = precision;
    all.push_back(std::move(device));
  }
  return Platform(std::move(all));
}

Platform Platform::with_devices(std::vector<Device> devices) const {
  if (!topology_) return Platform(std::move(devices), links_, default_link_, traffic_);
  const auto stores = topology_->stores();
  const auto buses = topology_->buses();
  const auto routes = topology_->routes();
  return Platform(std::move(devices), {stores.begin(), stores.end()}, {buses.begin(), buses.end()},
                  {routes.begin(), routes.end()});
}

Platform Platform::with_identities(const std::vector<DeviceIdentity>& identities) const {
  Platform named = *this;
  for (std::size_t i = 0; i < named.devices_.size(); ++i) {
    if (!identities[i].empty()) named.devices_[i].identity = identities[i];
  }
  return named;
}

bool Platform::alike() const {
  return std::all_of(devices_.begin(), devices_.end(), [&](const Device& device) {
    return device.kind == devices_.front().kind && device.identity == devices_.front().identity;
  });
}

std::optional<Link> Platform::link(DeviceId from, DeviceId to) const {
  if (topology_) {
    const auto route = topology_->find(from, to);
    if (!route) return std::nullopt;
    return Link{topology_->route(*route).latency_ms, topology_->alone_gb_per_s(*route)};
  }
  const auto given = by_pair_.find(pair_key(from, to));
  if (given != by_pair_.end()) return given->second;
  return default_link_;
}

std::optional<DeviceId> Platform::find(std::string_view name) const {
  const auto at = std::lower_bound(
      by_name_.begin(), by_name_.end(), name,
      [&](std::size_t i, std::string_view wanted) { return devices_[i].name < wanted; });
  if (at == by_name_.end() || devices_[*at].name != name) return std::nullopt;
  return DeviceId(*at);
}

}  // namespace hios
