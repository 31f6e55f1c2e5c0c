#include "python/module/platforms.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hios/base/error.h"
#include "hios/base/json/json_io.h"
#include "hios/platform/platform.h"
#include "hios/platform/platform_json.h"

namespace hios::python {
namespace {

namespace nb = nanobind;
using namespace nb::literals;

Contention contention_of(const std::string& word) {
  for (const Contention each : {Contention::kNone, Contention::kLink, Contention::kPort}) {
    if (word == to_string(each)) return each;
  }
  throw InputError("contention " + quote(word) + " is unknown; name none, link or port");
}

std::shared_ptr<Platform> alike(std::size_t count, const std::string& kind, int streams,
                                Bytes memory_bytes, std::optional<std::pair<double, double>> link,
                                const std::string& contention) {
  const Platform plain = Platform::homogeneous(count, kind, kind == kGpuKind ? 0 : 1, streams);
  std::vector<Device> devices(plain.devices().begin(), plain.devices().end());
  for (Device& device : devices) device.memory_bytes = memory_bytes;
  std::optional<Link> all;
  if (link) all = Link{link->first, link->second};
  return std::make_shared<Platform>(std::move(devices),
                                    std::vector<std::tuple<DeviceId, DeviceId, Link>>{}, all,
                                    Traffic{.contention = contention_of(contention)});
}

std::shared_ptr<Platform> read_platform(const std::string& file) {
  const Json json = read_json(file);
  return std::make_shared<Platform>(platform_from_json(JsonView(json, file)));
}

}  // namespace

void bind_platform(nb::module_& module) {
  nb::class_<Platform>(module, "Platform")
      .def_prop_ro("device_count", &Platform::size)
      .def("devices",
           [](const Platform& platform) {
             std::vector<std::string> names;
             for (const Device& device : platform.devices()) names.push_back(device.name);
             return names;
           })
      .def("streams",
           [](const Platform& platform) {
             std::vector<int> streams;
             for (const Device& device : platform.devices()) streams.push_back(device.streams);
             return streams;
           })
      .def(
          "write",
          [](const Platform& platform, const std::string& file, bool replace) {
            write_json(file, to_json(platform), replace ? Existing::kReplace : Existing::kRefuse);
          },
          "file"_a, "replace"_a);
  module.def("alike", &alike, "count"_a, "kind"_a, "streams"_a, "memory_bytes"_a, "link"_a.none(),
             "contention"_a);
  module.def("read_platform", &read_platform, "file"_a);
}

}  // namespace hios::python
