#include "engine/job/platform/platform_job.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "engine/discovery/hwloc_machine.h"
#include "engine/discovery/nvml_gpus.h"
#include "engine/job/platform/rank_routes.h"
#include "hios/base/error.h"
#include "hios/platform/cpu_kinds.h"
#include "mpi/exchange.h"
#include "mpi/session/agreement.h"

namespace hios::job {
namespace {

using discovery::Machine;

/// Returns the device of each rank as one that computes on cores.
std::vector<discovery::CpuRank> cpu_ranks(const PlatformOptions& options, const Machine& machine,
                                          const std::vector<std::vector<int>>& cores) {
  const std::vector<std::size_t> nodes = discovery::nodes_of_cores(machine, cores);
  std::vector<discovery::CpuRank> ranks;
  for (std::size_t r = 0; r < options.devices.size(); ++r) {
    const RankDevice& rank = options.devices[r];
    const std::string kind(rank.backend->kind == kGpuKind ? kCpuKind : rank.backend->kind);
    ranks.push_back({{.name = kind + std::to_string(r),
                      .kind = kind,
                      .threads = options.threads,
                      .streams = options.streams,
                      .host = machine.host,
                      .precision = rank.precision},
                     nodes[r]});
  }
  return ranks;
}

FoundPlatform found(const Machine& machine, const std::vector<discovery::CpuRank>& ranks) {
  FoundPlatform result{.described = platform_of(machine, ranks)};
  for (const auto& adapter : machine.adapters) result.adapters.push_back(adapter.name);
  result.other_gpus = machine.other_gpus;
  return result;
}

/// Returns this machine with the driver's GPUs.
Machine machine_here(const PlatformOptions& options, const std::string& host) {
  Machine machine = discovery::this_machine();
  if (machine.host.empty()) machine.host = host;
  if (machine.nodes.empty()) throw RunError("hwloc finds no memory on this machine");
  add_nvidia(machine, discovery::nvml_gpus());
  if (options.on_cores) machine.gpus.clear();
  return machine;
}

/// Returns the position of the folder's disk among the machine's, where it is added if hwloc does
/// not see it.
std::size_t disk_of_folder(Machine& machine, const std::vector<std::string>& names) {
  for (std::size_t d = 0; d < machine.disks.size(); ++d) {
    if (std::ranges::find(names, machine.disks[d].name) != names.end()) return d;
  }
  machine.disks.push_back({names.empty() ? "disk" : names.back(), {}, 0});
  return machine.disks.size() - 1;
}

/// Returns the GPU of each rank that computes on one, by rank: of the GPUs of its model, which it
/// names, the first that no rank before has.
std::vector<std::optional<std::size_t>> gpus_of_ranks(mpi::Transport& transport,
                                                      const PlatformOptions& options,
                                                      const Machine& machine,
                                                      const std::string& my_model) {
  const std::vector<std::string> models = mpi::gather(transport, my_model);
  return mpi::agreed(transport, [&] {
    std::vector<std::optional<std::size_t>> gpus(models.size());
    std::vector<bool> taken(machine.gpus.size(), false);
    for (std::size_t r = 0; r < models.size(); ++r) {
      if (options.devices[r].backend->kind != kGpuKind) continue;
      for (std::size_t g = 0; g < taken.size() && !gpus[r]; ++g) {
        if (!taken[g] && machine.gpus[g].model == models[r]) gpus[r] = g;
      }
      if (!gpus[r]) {
        throw InputError("rank " + std::to_string(r) + " computes on a GPU (" +
                         printable(models[r]) + ") that hwloc and NVML do not find for it alone");
      }
      taken[*gpus[r]] = true;
    }
    return gpus;
  });
}

void require_one_host(mpi::Transport& transport) {
  mpi::agreed(transport, [&] {
    if (transport.local_size() == transport.size()) return;
    throw InputError(
        "a platform is that of one machine, and the ranks are on several hosts: start "
        "them on one");
  });
}

}  // namespace

FoundPlatform platform_of_xml(const PlatformOptions& options, const std::string& xml,
                              const std::string& file) {
  Machine machine = discovery::machine_of_xml(xml, file);
  if (options.on_cores) machine.gpus.clear();
  if (!machine.gpus.empty()) return found(machine, {});
  const auto cores = discovery::cores_of_ranks(machine, printable(file, 200),
                                               options.devices.size(), options.threads);
  return found(machine, cpu_ranks(options, machine, cores));
}

FoundPlatform find_platform(Watch& watch, const PlatformOptions& options) {
  mpi::Transport& transport = watch.transport();
  watch.phase("finding what the machine has");
  require_one_host(transport);
  // One rank looks, so that all have the same machine.
  Machine machine = mpi::agreed(transport, [&] {
    return transport.rank() == Rank(0) ? machine_here(options, transport.host()) : Machine{};
  });
  machine = mpi::broadcast(transport, machine);
  const DiskToRead disk = open_disk(transport, options.disk_folder);
  std::optional<std::size_t> disk_index;
  if (disk.is_open()) disk_index = disk_of_folder(machine, disk.names);
  const RankBackend mine = make_rank_backend(transport, options.ranks, options.devices);
  const auto cores = mpi::gather(transport, mine.cores);
  const auto ranks = cpu_ranks(options, machine, cores);

  MeasuringRank measuring{.transport = transport,
                          .backend = *mine.backend,
                          .route = options.route,
                          .nodes = machine.nodes,
                          .disk = disk_index};
  if (machine.gpus.empty()) {
    for (std::size_t r = 0; r < ranks.size(); ++r) measuring.devices.emplace_back(DeviceId(r));
  } else {
    const Json description = mine.backend->describe();
    for (const auto& gpu :
         gpus_of_ranks(transport, options, machine, description.value("gpu", std::string())))
      measuring.devices.push_back(gpu ? std::optional(DeviceId(*gpu)) : std::nullopt);
  }
  FoundPlatform result = found(machine, ranks);
  if (!disk.refused.empty()) result.warnings.push_back(disk.refused);
  watch.phase("measuring routes", kMostDiskSeconds);
  const RankRoutes routes = measure_rank_routes(measuring, disk);
  result.warnings.insert(result.warnings.end(), routes.warnings.begin(), routes.warnings.end());
  if (routes.disturbed) {
    result.warnings.emplace_back(
        "the machine did other work while loads were measured: rates may be too low, and routes "
        "may seem to share a bus; measure again when it is idle");
  }
  if (std::ranges::none_of(measuring.devices,
                           [](const auto& device) { return device.has_value(); })) {
    result.warnings.emplace_back(
        "no rank computes on a GPU, so that no route to one was measured: the values are those "
        "that "
        "hwloc and NVML report");
  }
  const Platform& reported = result.described.platform;
  const auto name = [&](const Holder& holder) {
    const auto* const store = std::get_if<StoreId>(&holder);
    return store ? reported.topology()->store(*store).name
                 : reported.device(std::get<DeviceId>(holder)).name;
  };
  for (std::size_t r = 0; r < routes.figures.size(); ++r) {
    const auto& figure = routes.figures[r];
    result.measured.push_back({name(figure.from), reported.device(figure.to).name, figure.gb_per_s,
                               routes.together_gb_per_s[r]});
  }
  result.described = with_measurements(result.described, routes.figures, routes.shared);
  return result;
}

}  // namespace hios::job
