#include "hios/platform/platform_json.h"

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "hios/base/error.h"
#include "hios/platform/device_json.h"
#include "hios/platform/topology_json.h"

namespace hios {
namespace {

Link read_speed(ObjectReader& reader) {
  Link link;
  link.latency_ms = reader.required("latency_ms").number(0, kMaxMs);
  const JsonView bandwidth = reader.required("gb_per_s");
  link.gb_per_s = bandwidth.number(kMinGbPerS, kMaxGbPerS);
  reader.finish();
  return link;
}

DeviceId read_end(const JsonView& view, const Platform& devices) {
  const auto id = devices.find(view.string());
  if (!id)
    view.fail("no device is named '" + printable(view.string()) + "'; name one of $.devices");
  return *id;
}

/// Makes the platform by its constructor, whose errors (a name or a link twice) concern the whole
/// list.
template <class... Arguments>
Platform built(const JsonView& list, Arguments&&... arguments) {
  try {
    return Platform(std::forward<Arguments>(arguments)...);
  } catch (const InputError& error) {
    list.fail(error.what());
  }
}

std::vector<std::tuple<DeviceId, DeviceId, Link>> read_links(const JsonView& view,
                                                             const Platform& devices) {
  std::vector<std::tuple<DeviceId, DeviceId, Link>> links;
  for (const JsonView& element : view.array()) {
    ObjectReader link(element);
    const DeviceId from = read_end(link.required("from"), devices);
    const DeviceId to = read_end(link.required("to"), devices);
    links.emplace_back(from, to, read_speed(link));
  }
  return links;
}

/// Returns the one of `known` with this name.
template <class Word>
Word read_word(const JsonView& view, std::initializer_list<Word> known) {
  const std::string text = view.string();
  std::string names;
  for (const Word word : known) {
    if (text == to_string(word)) return word;
    names += (names.empty() ? "" : ", ") + quote(to_string(word));
  }
  const char* message =
      text == "buses" ? " is not known to this program; use one of " : " is unknown; use one of ";
  view.fail(quote(text) + message + names);
}

Traffic read_traffic(ObjectReader& reader) {
  Traffic traffic;
  const auto contention = reader.optional("contention");
  const auto routing = reader.optional("routing");
  if (contention) {
    traffic.contention =
        read_word(*contention, {Contention::kNone, Contention::kLink, Contention::kPort});
  }
  if (routing) traffic.routing = read_word(*routing, {Routing::kDirect, Routing::kWidest});
  return traffic;
}

Json speed_json(const Link& link) {
  return {{"latency_ms", link.latency_ms}, {"gb_per_s", link.gb_per_s}};
}

}  // namespace

Platform platform_from_json(const JsonView& root) {
  ObjectReader reader = open_format(root, "hios-platform");
  const JsonView devices_view = reader.required("devices");
  std::vector<Device> devices;
  for (const JsonView& view : devices_view.array()) {
    ObjectReader device(view);
    devices.push_back(read_device(device, IfAbsent::kDefault));
    device.finish();
  }
  if (devices.empty()) devices_view.fail("needs at least one device");

  const Platform alone = built(devices_view, devices);
  if (auto topology = read_topology(reader, alone)) {
    reader.finish();
    return built(root, std::move(devices), std::move(topology->stores), std::move(topology->buses),
                 std::move(topology->routes));
  }
  std::vector<std::tuple<DeviceId, DeviceId, Link>> links;
  const auto links_view = reader.optional("links");
  if (links_view) links = read_links(*links_view, alone);
  std::optional<Link> default_link;
  if (const auto view = reader.optional("default_link")) {
    ObjectReader link(*view);
    default_link = read_speed(link);
  }
  const Traffic traffic = read_traffic(reader);
  reader.finish();
  return built(links_view.value_or(root), std::move(devices), std::move(links), default_link,
               traffic);
}

Json to_json(const Platform& platform) {
  Json devices = Json::array();
  for (const Device& device : platform.devices()) devices.push_back(device_json(device));
  const Traffic traffic = platform.traffic();
  Json root{
      {"format", "hios-platform"}, {"version", kFormatVersion}, {"devices", std::move(devices)}};
  if (const Topology* const topology = platform.topology()) {
    write_topology(*topology, platform, root);
    return root;
  }
  if (!platform.links().empty()) {
    Json links = Json::array();
    for (const auto& [from, to, link] : platform.links()) {
      Json json{{"from", platform.device(from).name}, {"to", platform.device(to).name}};
      json.update(speed_json(link));
      links.push_back(std::move(json));
    }
    root["links"] = std::move(links);
  }
  if (platform.default_link()) root["default_link"] = speed_json(*platform.default_link());
  if (traffic.contention != Contention::kNone) root["contention"] = to_string(traffic.contention);
  if (traffic.routing != Routing::kDirect) root["routing"] = to_string(traffic.routing);
  return root;
}

}  // namespace hios
