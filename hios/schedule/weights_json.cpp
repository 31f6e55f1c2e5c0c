#include "hios/schedule/weights_json.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "hios/base/error.h"
#include "hios/platform/store_json.h"

// Devices and stores have names in a file and numbers in a Weights. A name stands for one of them
// only: stores_from_json() refuses a store with the name of a device.
namespace hios {
namespace {

class WeightsReader {
 public:
  WeightsReader(const Graph& graph, std::span<const Device> devices, std::span<const Store> stores)
      : graph_(graph) {
    for (std::size_t d = 0; d < devices.size(); ++d) holders_.emplace(devices[d].name, DeviceId(d));
    for (std::size_t s = 0; s < stores.size(); ++s) holders_.emplace(stores[s].name, StoreId(s));
  }

  Weights read(const JsonView& view) const {
    ObjectReader reader(view);
    Weights weights;
    if (const auto lanes = reader.optional("lanes")) {
      for (const JsonView& lane : lanes->array()) {
        Lane& loads = weights.lanes.emplace_back();
        for (const JsonView& load : lane.array()) loads.push_back(read_load(load));
      }
    }
    if (const auto in_place = reader.optional("in_place")) {
      for (const auto& [name, store] : in_place->members()) {
        weights.in_place.push_back({find_operator(store, name), read_store(store)});
      }
    }
    if (const auto evict = reader.optional("evict")) {
      for (const JsonView& one : evict->array()) weights.evictions.push_back(read_eviction(one));
    }
    if (const auto resident = reader.optional("resident")) {
      for (const JsonView& one : resident->array()) weights.resident.push_back(read_resident(one));
    }
    if (const auto first = reader.optional("load_first")) weights.load_first = first->boolean();
    reader.finish();
    return weights;
  }

 private:
  OpId find_operator(const JsonView& view, const std::string& name) const {
    if (const auto op = graph_.find(name)) return *op;
    view.fail("the graph " + quote(graph_.name()) + " has no operator " + quote(name) +
              "; schedule it again");
  }

  OpId read_operator(const JsonView& view) const { return find_operator(view, view.string()); }

  Holder read_holder(const JsonView& view) const {
    const auto found = holders_.find(view.string());
    if (found != holders_.end()) return found->second;
    view.fail("no store or device is named " + quote(view.string()) +
              "; name one of $.stores or $.devices");
  }

  DeviceId read_device(const JsonView& view) const {
    const auto found = holders_.find(view.string());
    if (found != holders_.end()) {
      if (const auto* device = std::get_if<DeviceId>(&found->second)) return *device;
    }
    view.fail("no device is named " + quote(view.string()) + "; name one of $.devices");
  }

  StoreId read_store(const JsonView& view) const {
    const auto found = holders_.find(view.string());
    if (found != holders_.end()) {
      if (const auto* store = std::get_if<StoreId>(&found->second)) return *store;
    }
    view.fail("no store is named " + quote(view.string()) + "; name one of $.stores");
  }

  Load read_load(const JsonView& view) const {
    ObjectReader reader(view);
    const OpId of = read_operator(reader.required("of"));
    const Holder from = read_holder(reader.required("from"));
    const DeviceId to = read_device(reader.required("to"));
    reader.finish();
    if (from == Holder(to)) view.fail("loads from a device to itself; remove it");
    return {of, from, to};
  }

  Eviction read_eviction(const JsonView& view) const {
    ObjectReader reader(view);
    const OpId of = read_operator(reader.required("of"));
    const DeviceId from = read_device(reader.required("from"));
    const OpId after = read_operator(reader.required("after"));
    reader.finish();
    return {of, from, after};
  }

  Resident read_resident(const JsonView& view) const {
    ObjectReader reader(view);
    const OpId of = read_operator(reader.required("of"));
    const DeviceId on = read_device(reader.required("on"));
    reader.finish();
    return {of, on};
  }

  const Graph& graph_;
  std::map<std::string, Holder, std::less<>> holders_;
};

const std::string& name_of(const Holder& holder, std::span<const Device> devices,
                           std::span<const Store> stores) {
  if (const auto* device = std::get_if<DeviceId>(&holder)) return devices[device->index()].name;
  return stores[std::get<StoreId>(holder).index()].name;
}

}  // namespace

std::vector<Store> stores_from_json(const JsonView& view, std::span<const Device> devices) {
  std::vector<Store> stores;
  for (const JsonView& element : view.array()) {
    Store store = store_from_json(element);
    const auto same_name = [&](const auto& other) { return other.name == store.name; };
    if (std::ranges::any_of(stores, same_name)) {
      element.fail("store " + quote(store.name) + " is there twice; rename one");
    }
    if (std::ranges::any_of(devices, same_name)) {
      element.fail("store " + quote(store.name) + " has the name of a device; rename one");
    }
    stores.push_back(std::move(store));
  }
  return stores;
}

Weights weights_from_json(const JsonView& view, const Graph& graph, std::span<const Device> devices,
                          std::span<const Store> stores) {
  if (graph.batching()) {
    view.fail(
        "operators run some of the inputs, and a cold start runs all of them at a time; "
        "remove the key");
  }
  return WeightsReader(graph, devices, stores).read(view);
}

Json stores_json(std::span<const Store> stores) {
  Json json = Json::array();
  for (const Store& store : stores) json.push_back(store_json(store));
  return json;
}

Json weights_json(const Weights& weights, const Graph& graph, std::span<const Device> devices,
                  std::span<const Store> stores) {
  const auto op = [&](OpId id) -> const std::string& { return graph.op(id).name; };
  const auto holder = [&](const Holder& one) { return name_of(one, devices, stores); };
  Json json = {{"lanes", Json::array()}};
  for (const Lane& lane : weights.lanes) {
    Json& loads = json["lanes"].emplace_back(Json::array());
    for (const Load& load : lane) {
      loads.push_back({{"of", op(load.of)}, {"from", holder(load.from)}, {"to", holder(load.to)}});
    }
  }
  for (const ReadInPlace& one : weights.in_place) json["in_place"][op(one.of)] = holder(one.from);
  for (const Eviction& one : weights.evictions) {
    json["evict"].push_back(
        {{"of", op(one.of)}, {"from", holder(one.from)}, {"after", op(one.after)}});
  }
  for (const Resident& one : weights.resident) {
    json["resident"].push_back({{"of", op(one.of)}, {"on", holder(one.on)}});
  }
  if (weights.load_first) json["load_first"] = true;
  return json;
}

ScheduleFile with_stores_of(const Topology& topology, ScheduleFile file, const std::string& name) {
  std::vector<StoreId> ids;
  for (std::size_t s = 0; s < file.stores.size(); ++s) {
    const Store& store = file.stores[s];
    const auto fail = [&](const std::string& text) {
      throw InputError(name + ": $.stores[" + std::to_string(s) + "]: " + text);
    };
    const auto id = topology.find_store(store.name);
    if (!id) {
      fail("the platform has no store " + quote(store.name) +
           "; give the platform that the schedule was made for");
    }
    const StoreKind kind = topology.store(*id).kind;
    if (kind != store.kind) {
      fail("store " + quote(store.name) + " is " + std::string(to_string(kind)) +
           " on the platform, and " + std::string(to_string(store.kind)) +
           " here; give the platform that the schedule was made for");
    }
    ids.push_back(*id);
  }
  file.stores.assign(topology.stores().begin(), topology.stores().end());
  if (!file.schedule.weights) return file;
  for (Lane& lane : file.schedule.weights->lanes) {
    for (Load& load : lane) {
      if (auto* store = std::get_if<StoreId>(&load.from)) *store = ids[store->index()];
    }
  }
  for (ReadInPlace& one : file.schedule.weights->in_place) one.from = ids[one.from.index()];
  return file;
}

}  // namespace hios
