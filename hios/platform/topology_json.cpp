#include "hios/platform/topology_json.h"

#include <nlohmann/json.hpp>
#include <string>
#include <unordered_map>
#include <utility>

#include "hios/base/error.h"
#include "hios/platform/store_json.h"

// Names become ids while routes are read, so that a message points at the name that is wrong. The
// other rules are those of Topology's constructor.

namespace hios {
namespace {

template <class Id>
using ByName = std::unordered_map<std::string, Id>;

std::string read_given_name(ObjectReader& reader) {
  const JsonView view = reader.required("name");
  std::string name = view.string();
  if (name.empty()) view.fail("must not be empty; give it a name");
  return name;
}

double read_bandwidth(ObjectReader& reader) {
  return reader.required("gb_per_s").number(kMinGbPerS, kMaxGbPerS);
}

std::vector<Store> read_stores(const JsonView& view) {
  std::vector<Store> stores;
  for (const JsonView& element : view.array()) stores.push_back(store_from_json(element));
  return stores;
}

std::vector<Bus> read_buses(const JsonView& view) {
  std::vector<Bus> buses;
  for (const JsonView& element : view.array()) {
    ObjectReader reader(element);
    Bus bus{.name = read_given_name(reader)};
    bus.gb_per_s = read_bandwidth(reader);
    reader.finish();
    buses.push_back(std::move(bus));
  }
  return buses;
}

/// Returns the ids of stores or buses; of equal names the first, as Topology refuses the others.
template <class Id, class Named>
ByName<Id> ids_by_name(const std::vector<Named>& list) {
  ByName<Id> ids;
  for (std::size_t i = 0; i < list.size(); ++i) ids.emplace(list[i].name, Id(i));
  return ids;
}

/// A reader of routes.
class RouteReader {
 public:
  RouteReader(const Platform& devices, const TopologyLists& lists)
      : devices_(devices),
        stores_(ids_by_name<StoreId>(lists.stores)),
        buses_(ids_by_name<BusId>(lists.buses)) {}

  Route read(const JsonView& view) const {
    ObjectReader reader(view);
    Route route{
        .from = holder(reader.required("from")), .to = device(reader.required("to")), .over = {}};
    if (const auto over = reader.optional("over")) {
      for (const JsonView& name : over->array()) route.over.push_back(bus(name));
    }
    route.latency_ms = reader.required("latency_ms").number(0, kMaxMs);
    route.gb_per_s = read_bandwidth(reader);
    if (const auto start = reader.optional("start_ms")) route.start_ms = start->number(0, kMaxMs);
    if (const auto factor = reader.optional("slowdown")) {
      route.slowdown = factor->number(1, kMostSlowdown);
    }
    if (const auto factor = reader.optional("load_slowdown")) {
      route.load_slowdown = factor->number(1, kMostSlowdown);
    }
    reader.finish();
    return route;
  }

 private:
  Holder holder(const JsonView& view) const {
    const std::string name = view.string();
    if (const auto device = devices_.find(name)) return *device;
    const auto store = stores_.find(name);
    if (store != stores_.end()) return store->second;
    view.fail("no store and no device is named '" + printable(name) +
              "'; name one of $.stores or $.devices");
  }

  DeviceId device(const JsonView& view) const {
    const std::string name = view.string();
    if (const auto device = devices_.find(name)) return *device;
    view.fail(stores_.contains(name)
                  ? "'" + printable(name) + "' is a store, and a route leads to a device"
                  : "no device is named '" + printable(name) + "'; name one of $.devices");
  }

  BusId bus(const JsonView& view) const {
    const std::string name = view.string();
    const auto bus = buses_.find(name);
    if (bus != buses_.end()) return bus->second;
    view.fail("no bus is named '" + printable(name) + "'; name one of $.buses");
  }

  const Platform& devices_;
  const ByName<StoreId> stores_;
  const ByName<BusId> buses_;
};

}  // namespace

std::optional<TopologyLists> read_topology(ObjectReader& reader, const Platform& devices) {
  const auto stores = reader.optional("stores"), buses = reader.optional("buses"),
             routes = reader.optional("routes");
  if (!stores && !buses && !routes) return std::nullopt;
  for (const char* key : {"links", "default_link", "contention", "routing"}) {
    if (const auto other = reader.optional(key)) {
      other->fail(std::string("a platform with routes has no ") + key +
                  ": routes and their buses price all traffic; leave it out");
    }
  }
  TopologyLists lists;
  if (stores) lists.stores = read_stores(*stores);
  if (buses) lists.buses = read_buses(*buses);
  const RouteReader route_reader(devices, lists);
  if (routes) {
    for (const JsonView& view : routes->array()) lists.routes.push_back(route_reader.read(view));
  }
  return lists;
}

void write_topology(const Topology& topology, const Platform& platform, Json& root) {
  Json stores = Json::array(), buses = Json::array(), routes = Json::array();
  for (const Store& store : topology.stores()) stores.push_back(store_json(store));
  for (const Bus& bus : topology.buses()) {
    buses.push_back({{"name", bus.name}, {"gb_per_s", bus.gb_per_s}});
  }
  for (const Route& route : topology.routes()) {
    const auto* store = std::get_if<StoreId>(&route.from);
    const std::string& from =
        store ? topology.store(*store).name : platform.device(std::get<DeviceId>(route.from)).name;
    Json& json = routes.emplace_back(Json{{"from", from}, {"to", platform.device(route.to).name}});
    Json over = Json::array();
    for (const BusId bus : route.over) over.push_back(topology.bus(bus).name);
    if (!over.empty()) json["over"] = std::move(over);
    json["latency_ms"] = route.latency_ms;
    json["gb_per_s"] = route.gb_per_s;
    if (route.start_ms > 0) json["start_ms"] = route.start_ms;
    if (route.slowdown > 1) json["slowdown"] = route.slowdown;
    if (route.load_slowdown > 1) json["load_slowdown"] = route.load_slowdown;
  }
  if (!stores.empty()) root["stores"] = std::move(stores);
  if (!buses.empty()) root["buses"] = std::move(buses);
  root["routes"] = std::move(routes);
}

}  // namespace hios
