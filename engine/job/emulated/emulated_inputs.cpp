#include "engine/job/emulated/emulated_inputs.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "hios/base/digest.h"
#include "hios/base/error.h"
#include "hios/graph/graph_json.h"
#include "hios/platform/platform_json.h"
#include "hios/schedule/schedule_json.h"
#include "hios/schedule/weights_json.h"

namespace hios::job {

namespace {

/// Throws InputError where a member of a device differs. Threads, hosts and identities are of no
/// effect, as nothing is computed.
void require_alike(std::size_t d, const Device& planned, const std::string& name,
                   const Device& device, const std::string& platform_name) {
  const auto require = [&](const char* member, const std::string& here, const std::string& there) {
    if (here == there) return;
    throw InputError(name + ": $.devices[" + std::to_string(d) + "]." + member + ": " +
                     printable(planned.name) + " has " + printable(here) + ", and in " +
                     printable(platform_name, 200) + " it has " + printable(there) +
                     ": give the platform that the schedule was made for");
  };
  require("kind", planned.kind, device.kind);
  require("math", std::string(to_string(planned.precision)),
          std::string(to_string(device.precision)));
  require("memory_bytes", std::to_string(planned.memory_bytes),
          std::to_string(device.memory_bytes));
  require("streams", std::to_string(planned.streams), std::to_string(device.streams));
}

/// Throws InputError unless the platform has the devices of the schedule, in its order.
void require_devices(const ScheduleFile& schedule, const std::string& name,
                     const Platform& platform, const std::string& platform_name) {
  const auto listed = [](std::span<const Device> devices) {
    std::string names;
    for (const Device& device : devices) names += (names.empty() ? "" : ", ") + device.name;
    return printable(names, 200);
  };
  if (std::ranges::equal(schedule.devices, platform.devices(), {}, &Device::name, &Device::name)) {
    for (std::size_t d = 0; d < schedule.devices.size(); ++d) {
      require_alike(d, schedule.devices[d], name, platform.device(DeviceId(d)), platform_name);
    }
    return;
  }
  throw InputError(name + ": $.devices: the schedule has the devices " + listed(schedule.devices) +
                   ", and " + printable(platform_name, 200) + " has " + listed(platform.devices()) +
                   ": give the platform that it was made for");
}

}  // namespace

RunInputs read_emulated_inputs(const std::string& graph_file, const std::string& schedule_file,
                               const std::string& platform_file, double time_scale,
                               const ReadLimits& limits) {
  const Json graph_json = read_json(graph_file, limits);
  const Graph graph = graph_from_json(JsonView(graph_json, graph_file));
  const Json platform_json = read_json(platform_file, limits);
  const Platform platform = platform_from_json(JsonView(platform_json, platform_file));
  RunInputs inputs{.network = emulated::digest_network(graph, platform.element_bytes()),
                   .schedule = {},
                   .schedule_name = schedule_file};
  try {
    inputs.machine = emulated::machine_of(graph, platform, time_scale);
  } catch (const InputError& error) {
    throw InputError(graph_file + " on " + platform_file + ": " + error.what(), error.need());
  }
  const Json json = read_json(schedule_file, limits);
  inputs.schedule = schedule_from_json(JsonView(json, schedule_file), graph);
  inputs.schedule_digest = Digest().add(json.dump()).hex();
  require_devices(inputs.schedule, schedule_file, platform, platform_file);
  if (inputs.schedule.schedule.weights) {
    inputs.schedule =
        with_stores_of(*platform.topology(), std::move(inputs.schedule), schedule_file);
  }
  return inputs;
}

}  // namespace hios::job
