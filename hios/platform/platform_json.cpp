// Part of hios/platform/platform.h: `hios-platform` version 1, to and from JSON.

#include <utility>

#include "hios/base/error.h"
#include "hios/platform/device_json.h"
#include "hios/platform/platform.h"

namespace hios {
namespace {

constexpr double kMaxGbPerS = 1e9;

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

/// What the constructor refuses (a name or a link twice) is a matter of the whole list.
Platform built(const JsonView& list, std::vector<Device> devices,
               std::vector<std::tuple<DeviceId, DeviceId, Link>> links,
               std::optional<Link> default_link) {
  try {
    return Platform(std::move(devices), std::move(links), default_link);
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

Json speed_json(const Link& link) {
  return {{"latency_ms", link.latency_ms}, {"gb_per_s", link.gb_per_s}};
}

}  // namespace

Platform platform_from_json(const JsonView& root) {
  ObjectReader reader = open_format(root, "hios-platform", 1);
  const JsonView devices_view = reader.required("devices");
  std::vector<Device> devices;
  for (const JsonView& view : devices_view.array()) {
    ObjectReader device(view);
    devices.push_back(read_device(device, Unsaid::kDefault));
    device.finish();
  }
  if (devices.empty()) devices_view.fail("needs at least one device");

  const Platform alone = built(devices_view, devices, {}, {});
  std::vector<std::tuple<DeviceId, DeviceId, Link>> links;
  const auto links_view = reader.optional("links");
  if (links_view) links = read_links(*links_view, alone);
  std::optional<Link> default_link;
  if (const auto view = reader.optional("default_link")) {
    ObjectReader link(*view);
    default_link = read_speed(link);
  }
  reader.finish();
  return built(links_view.value_or(root), std::move(devices), std::move(links), default_link);
}

Json to_json(const Platform& platform) {
  Json devices = Json::array();
  for (const Device& device : platform.devices()) devices.push_back(device_json(device));
  Json root{{"format", "hios-platform"}, {"version", 1}, {"devices", std::move(devices)}};
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
  return root;
}

}  // namespace hios
