#include "engine/job/platform/rank_routes.h"

#include <algorithm>
#include <utility>

#include "engine/host/available_memory.h"
#include "engine/host/clock.h"
#include "engine/host/disturbance.h"
#include "engine/job/ranks/host_memory.h"
#include "engine/job/ranks/tensor_transport.h"
#include "engine/measure/routes/disk_file.h"
#include "engine/measure/routes/route_rates.h"
#include "engine/measure/transfers/transfer_times.h"
#include "hios/base/error.h"
#include "hios/base/log.h"
#include "hios/base/size_text.h"
#include "mpi/exchange.h"
#include "mpi/session/agreement.h"

namespace hios::job {
namespace {

constexpr Bytes kDiskFileBytes = Bytes{1} << 28;

/// A load that is measured: from memory of a node or from the disk to a rank.
struct Load {
  Holder from;
  Rank to;
  DeviceId device;
  std::optional<std::size_t> node;  ///< empty: from the disk
};

/// Returns by node if all ranks get its memory. Where there is one node, none is asked for.
/// Collective.
std::vector<bool> given_nodes(const MeasuringRank& measuring) {
  std::vector<double> refused(measuring.nodes.size(), 0);
  for (std::size_t n = 0; n < refused.size() && refused.size() > 1; ++n)
    refused[n] = gives_memory_of(measuring.nodes[n].number) ? 0 : 1;
  measuring.transport.all_reduce_max(refused);
  std::vector<bool> given;
  for (const double node : refused) given.push_back(node == 0);
  return given;
}

std::vector<Load> loads_of(const MeasuringRank& measuring, const std::vector<bool>& given,
                           bool reads_disk) {
  std::vector<Load> loads;
  for (std::size_t r = 0; r < measuring.devices.size(); ++r) {
    if (!measuring.devices[r]) continue;
    const DeviceId device = *measuring.devices[r];
    for (std::size_t n = 0; n < measuring.nodes.size(); ++n) {
      if (given[n]) loads.push_back({StoreId(n), Rank(r), device, n});
    }
    if (reads_disk && measuring.disk)
      loads.push_back({StoreId(measuring.nodes.size() + *measuring.disk), Rank(r), device, {}});
  }
  return loads;
}

/// Throws InputError, the same on all ranks, where a rank's share of the memory is less than its
/// loads need: what they read, and what they write.
void require_memory(const MeasuringRank& measuring, const std::vector<Load>& loads) {
  mpi::Transport& transport = measuring.transport;
  const auto share = share_of_memory(transport, read_available_memory());
  Bytes needed = 0;
  for (const Load& load : loads) {
    if (load.to == transport.rank()) needed += load.node ? 2 * uncached_bytes() : 2 * kLargestMove;
  }
  mpi::agreed(transport, [&] {
    if (!share || needed <= *share) return;
    throw InputError("measuring the routes to this rank takes " + size_text(needed) +
                     " of memory, and " + size_text(*share) + " are free for it: use fewer ranks");
  });
}

/// Returns the sources of this rank's loads. Ranks begin at different positions of the file, so
/// that no two read the same bytes at the same time.
RouteSources sources_of(const MeasuringRank& measuring, const std::vector<Load>& loads,
                        const DiskToRead& disk) {
  RouteSources mine;
  const Rank rank = measuring.transport.rank();
  for (std::size_t i = 0; i < loads.size(); ++i) {
    if (loads[i].to != rank) continue;
    if (!loads[i].node) {
      const Bytes part = kDiskFileBytes / measuring.transport.size() / kLargestMove * kLargestMove;
      mine.emplace(
          i, disk_source(measuring.backend, disk.to_read, kDiskFileBytes, part * rank.index()));
      continue;
    }
    const bool choice = measuring.nodes.size() > 1;
    mine.emplace(i, memory_source(measuring.backend,
                                  choice ? std::optional(measuring.nodes[*loads[i].node].number)
                                         : std::nullopt,
                                  uncached_bytes()));
  }
  return mine;
}

/// Returns a function that shows how many sets of routes were measured, on rank 0.
std::function<void(std::size_t, std::size_t)> shown_progress(std::optional<log::Progress>& progress,
                                                             const Stopwatch& stopwatch) {
  if (!progress) return {};
  return [&progress, &stopwatch](std::size_t done, std::size_t all) {
    const double left =
        static_cast<double>(all - done) / static_cast<double>(std::max<std::size_t>(done, 1));
    progress->update(done, all, done == 0 ? -1 : stopwatch.seconds() * left);
  };
}

/// Fills the disk's file. Returns true if it is read directly; false is a warning. Collective.
bool fill_disk(const MeasuringRank& measuring, const DiskToRead& disk, RankRoutes& routes) {
  if (!disk.is_open()) return false;
  double cached = 0;
  if (disk.to_fill.is_open()) {
    log::info("writing " + std::to_string(kDiskFileBytes >> 20) + " MB to measure the disk");
    fill_disk_file(disk.to_fill, disk.file, kDiskFileBytes);
    cached = fills_cache(*disk.to_read) ? 1 : 0;
  }
  measuring.transport.all_reduce_max({&cached, 1});
  if (cached > 0) {
    routes.warnings.push_back(
        printable(disk.file.parent_path().string(), 200) +
        ": reads there go through the page cache, so that no disk was measured; name a folder of "
        "another file system");
  }
  return cached == 0;
}

/// Says how long the measuring takes, and warns where pairs are too many.
void announce(const MeasuringRank& measuring, std::size_t count, const RouteProtocol& protocol,
              RankRoutes& routes) {
  const double seconds = expected_seconds(count, protocol);
  if (measuring.transport.rank() == Rank(0)) {
    log::info("measuring " + std::to_string(count) + " loads takes about " +
              std::to_string(std::max(1, static_cast<int>(seconds + 0.5))) + " s");
  }
  if (count <= protocol.most_in_pairs) return;
  routes.warnings.push_back(
      std::to_string(count) + " loads are more than " + std::to_string(protocol.most_in_pairs) +
      ", so that they were measured alone and all at once, and not in pairs: a bus that only some "
      "of them share may not be seen");
}

void measure_loads(const MeasuringRank& measuring, const DiskToRead& disk, RankRoutes& routes) {
  if (std::ranges::none_of(measuring.devices, [](const auto& one) { return one.has_value(); }))
    return;
  const std::vector<bool> given = given_nodes(measuring);
  for (std::size_t n = 0; n < given.size(); ++n) {
    if (given[n]) continue;
    routes.warnings.push_back("the system refuses memory of the NUMA node " +
                              std::to_string(measuring.nodes[n].number) +
                              " (a container?): its routes have the values that hwloc reports");
  }
  require_memory(measuring, loads_of(measuring, given, disk.is_open()));
  const std::vector<Load> loads = loads_of(measuring, given, fill_disk(measuring, disk, routes));
  if (loads.empty()) return;
  const RouteSources mine = sources_of(measuring, loads, disk);
  HostDisturbance disturbance;
  RouteProtocol protocol{.one_thread = measuring.backend.accelerator() != nullptr,
                         .disturbance = &disturbance};
  announce(measuring, loads.size(), protocol, routes);
  std::optional<log::Progress> progress;
  if (measuring.transport.rank() == Rank(0)) progress.emplace("measuring routes, set");
  const Stopwatch stopwatch;
  protocol.progress = shown_progress(progress, stopwatch);
  const RouteFigures figures = route_figures(measuring.transport, mine, loads.size(), protocol);
  for (std::size_t i = 0; i < loads.size(); ++i) {
    routes.figures.push_back(
        {loads[i].from, loads[i].device, figures.latency_ms[i], figures.rates.alone[i]});
  }
  routes.disturbed = figures.disturbed;
  routes.together_gb_per_s = figures.rates.together;
  if (loads.size() == 2)
    routes.together_gb_per_s = {figures.rates.pairs[0][1], figures.rates.pairs[1][0]};
  if (loads.size() == 1) routes.together_gb_per_s = figures.rates.alone;
  routes.shared = discovery::shared_buses(figures.rates);
}

/// Returns a transfer's curve as a latency and a bandwidth: the time of the smallest message, and
/// what the largest takes beyond it.
discovery::RouteFigure line_of(const TransferCurve& curve) {
  discovery::RouteFigure figure;
  const auto& [small_bytes, small_ms] = curve.points.front();
  const auto& [large_bytes, large_ms] = curve.points.back();
  const double bytes = static_cast<double>(large_bytes - small_bytes);
  figure.latency_ms = small_ms;
  figure.gb_per_s = bytes / (std::max(large_ms - small_ms, 1e-6) * 1e6);
  return figure;
}

void measure_messages(const MeasuringRank& measuring, RankRoutes& routes) {
  const TensorTransport tensors(measuring.transport, measuring.backend, measuring.route);
  HostDisturbance disturbance;
  std::optional<log::Progress> progress;
  if (measuring.transport.rank() == Rank(0)) progress.emplace("measuring messages, pair of ranks");
  const std::size_t ranks = measuring.devices.size();
  std::size_t done = 0;
  for (std::size_t a = 0; a < ranks; ++a) {
    for (std::size_t b = a + 1; b < ranks; ++b) {
      if (!measuring.devices[a] || !measuring.devices[b]) continue;
      if (progress) progress->update(done++, ranks * (ranks - 1) / 2, -1);
      const auto curve = transfer_times(tensors.get(), measuring.backend, Protocol{}, disturbance,
                                        Rank(a), Rank(b));
      const auto line = mpi::broadcast(measuring.transport, curve->points);
      discovery::RouteFigure figure = line_of({a, b, line});
      for (const auto& [from, to] : {std::pair(a, b), std::pair(b, a)}) {
        figure.from = *measuring.devices[from];
        figure.to = *measuring.devices[to];
        routes.figures.push_back(figure);
        routes.together_gb_per_s.push_back(figure.gb_per_s);
      }
    }
  }
}

}  // namespace

DiskToRead open_disk(mpi::Transport& transport, const std::filesystem::path& folder) {
  DiskToRead disk;
  const bool leads = transport.rank() == Rank(0);
  mpi::agreed(transport, [&] {
    if (!leads) return;
    disk.names = disk_names_of(folder);
    disk.file = new_disk_file_name(folder);
    create_disk_file(disk.file);
  });
  disk.names = mpi::broadcast(transport, disk.names);
  disk.file = mpi::broadcast(transport, disk.file.string());
  try {
    disk.to_read = std::make_shared<const DirectFile>(disk.file);
  } catch (const InputError&) {  // another rank's file: it is not measured, as below
  }
  double failed = disk.to_read && disk.to_read->direct() ? 0 : 1;
  if (leads) disk.to_fill = open_to_fill(disk.file);
  transport.all_reduce_max({&failed, 1});
  if (leads) remove_disk_file(disk.file);
  if (failed == 0) return disk;
  disk.to_read.reset();
  disk.to_fill = Descriptor(-1);
  disk.refused =
      printable(folder.string(), 200) +
      ": no direct reads there (a file system in memory?), so that no disk was measured; "
      "name a folder of a disk";
  return disk;
}

RankRoutes measure_rank_routes(const MeasuringRank& measuring, const DiskToRead& disk) {
  RankRoutes routes;
  measure_loads(measuring, disk, routes);
  if (measuring.transport.size() > 1) measure_messages(measuring, routes);
  return routes;
}

}  // namespace hios::job
