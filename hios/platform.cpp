#include "hios/platform.h"

#include <algorithm>
#include <utility>

#include "hios/error.h"

namespace hios {
namespace {

void check_devices(const std::vector<Device>& devices) {
  std::vector<std::string_view> names;
  for (const Device& device : devices) {
    if (device.name.empty()) throw InputError("platform: a device has no name; give it one");
    names.push_back(device.name);
  }
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(names.begin(), names.end());
  if (twice != names.end()) {
    throw InputError("platform: two devices are named '" + std::string(*twice) + "'; rename one");
  }
}

void check_link(const Link& link, const std::string& which) {
  if (!(link.gb_per_s > 0)) {
    throw InputError("platform: " + which + " has no bandwidth; give gb_per_s > 0");
  }
}

}  // namespace

Platform::Platform(std::vector<Device> devices,
                   std::vector<std::tuple<DeviceId, DeviceId, Link>> links,
                   std::optional<Link> default_link)
    : devices_(std::move(devices)), links_(std::move(links)), default_link_(default_link) {
  check_devices(devices_);
  if (default_link_) check_link(*default_link_, "the default link");
  if (links_.empty()) return;

  table_.resize(size() * size());
  for (const auto& [from, to, link] : links_) {
    if (from.index() >= size() || to.index() >= size()) {
      throw InputError("platform: a link names device " +
                       std::to_string(std::max(from.index(), to.index())) +
                       ", but there are only " + std::to_string(size()));
    }
    const std::string which =
        "the link from '" + device(from).name + "' to '" + device(to).name + "'";
    if (from == to) throw InputError("platform: " + which + " stays on one device; remove it");
    check_link(link, which);
    std::optional<Link>& place = table_[from.index() * size() + to.index()];
    if (place) throw InputError("platform: " + which + " is given twice; remove one");
    place = link;
  }
  for (const auto& [from, to, link] : links_) {
    std::optional<Link>& back = table_[to.index() * size() + from.index()];
    if (!back) back = link;
  }
}

Platform Platform::homogeneous(std::size_t devices, std::string_view kind, int threads,
                               int streams) {
  std::vector<Device> all;
  for (std::size_t i = 0; i < devices; ++i) {
    Device device;
    device.name = std::string(kind) + std::to_string(i);
    device.kind = kind;
    device.threads = threads;
    device.streams = streams;
    all.push_back(std::move(device));
  }
  return Platform(std::move(all));
}

std::optional<Link> Platform::link(DeviceId from, DeviceId to) const {
  if (!table_.empty()) {
    if (const auto& given = table_[from.index() * size() + to.index()]) return given;
  }
  return default_link_;
}

std::optional<DeviceId> Platform::find(std::string_view name) const {
  const auto at = std::find_if(devices_.begin(), devices_.end(),
                               [&](const Device& device) { return device.name == name; });
  if (at == devices_.end()) return std::nullopt;
  return DeviceId(static_cast<std::size_t>(at - devices_.begin()));
}

}  // namespace hios
