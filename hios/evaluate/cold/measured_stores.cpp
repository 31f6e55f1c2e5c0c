// A rank's own loads share its bus, as they share the thread of one lane, and those of all ranks
// share the store's. The first is as fast as one rank alone, the second as all ranks together.
// Tests: tests/hios/evaluate/cold/measured_stores_test.cpp.
#include "hios/evaluate/cold/measured_stores.h"

#include <algorithm>
#include <cstdio>
#include <utility>
#include <vector>

#include "hios/base/error.h"
#include "hios/profile/loads/load_fit.h"
#include "hios/profile/profile_gaps.h"

namespace hios {
namespace {

/// The costs of a platform's devices for cold starts.
class MeasuredStore {
 public:
  MeasuredStore(const Graph& graph, const Platform& platform, const Profile& profile,
                StoreKind kind)
      : graph_(graph),
        platform_(platform),
        profile_(profile),
        kind_(kind),
        shares_all_(platform.size(), true) {}

  Platform platform() {
    for (std::size_t d = 0; d < platform_.size(); ++d) add_loads(DeviceId(d));
    for (std::size_t d = 0; d < platform_.size(); ++d) add_messages(DeviceId(d));
    const auto devices = platform_.devices();
    std::vector<Device> charged(devices.begin(), devices.end());
    for (std::size_t d = 0; d < charged.size(); ++d) {
      if (shares_all_[d] && charged.size() > 1 && !charged[d].io_charge)
        charged[d].io_charge = IoCharge{.send = 0, .receive = 1};
    }
    return Platform(std::move(charged), {{std::string(to_string(kind_)), "", kind_}},
                    std::move(buses_), std::move(routes_));
  }

 private:
  void add_loads(DeviceId device) {
    const MeasuredLoads& loads = loads_of(device);
    const std::string store(to_string(kind_));
    if (buses_.empty()) buses_.push_back({store, 0});
    buses_.front().gb_per_s += loads.together_gb_per_s;
    Route route{.from = StoreId(0),
                .to = device,
                .over = {BusId(0)},
                .latency_ms = loads.latency_ms,
                .gb_per_s = loads.gb_per_s,
                .start_ms = loads.start_ms,
                .slowdown = loads.slowdown,
                .load_slowdown = load_slowdown(loads)};
    if (platform_.size() > 1) {
      route.over.emplace_back(buses_.size());
      buses_.push_back({store + "-" + platform_.device(device).name, loads.gb_per_s});
    }
    routes_.push_back(std::move(route));
  }

  /// Returns the divisor of the rate alone by which all ranks that load and compute get the rate
  /// that they were measured at; a rank that loads alone meanwhile is slowed as much.
  double load_slowdown(const MeasuredLoads& loads) const {
    if (platform_.size() == 1 || loads.load_slowdown <= 1) return loads.load_slowdown;
    const double shared = loads.gb_per_s / loads.together_gb_per_s;
    return std::clamp(loads.load_slowdown * shared, 1.0, kMostSlowdown);
  }

  void add_messages(DeviceId from) {
    const Configuration& measured = configuration_of(from, platform_, profile_, graph_);
    for (std::size_t d = 0; d < platform_.size(); ++d) {
      if (DeviceId(d) == from) continue;
      const auto curve = std::ranges::find_if(measured.transfers, [&](const TransferCurve& each) {
        return each.from == from.index() && each.to == d;
      });
      if (curve == measured.transfers.end()) fail(from, "no transfers from it were measured");
      const bool shared = !curve->shared.empty();
      shares_all_[d] = shares_all_[d] && shared;
      const RateLine line = relative_line(shared ? curve->shared : curve->points);
      const MeasuredLoads& copies = copies_of(DeviceId(d));
      routes_.push_back({.from = from,
                         .to = DeviceId(d),
                         .over = {},
                         .latency_ms = line.latency_ms,
                         .gb_per_s = line.gb_per_s,
                         .slowdown = copies.slowdown,
                         .load_slowdown = copies.load_slowdown});
    }
  }

  /// Returns what slows a device that takes parameters from another one: a lane copies them from
  /// memory, whatever store they came from.
  const MeasuredLoads& copies_of(DeviceId device) const {
    const auto& loads = configuration_of(device, platform_, profile_, graph_).loads;
    const auto memory = loads.find(StoreKind::kMemory);
    return memory == loads.end() ? loads_of(device) : memory->second;
  }

  const MeasuredLoads& loads_of(DeviceId device) const {
    const auto& loads = configuration_of(device, platform_, profile_, graph_).loads;
    const auto found = loads.find(kind_);
    if (found == loads.end()) {
      fail(device, "no loads from " + std::string(kind_ == StoreKind::kDisk ? "a disk" : "memory") +
                       " were measured");
    }
    return found->second;
  }

  [[noreturn]] void fail(DeviceId device, const std::string& text) const {
    throw InputError(profile_.file + ": " + printable(platform_.device(device).name) + ": " + text,
                     measurement_of(device, platform_, profile_.file, graph_));
  }

  const Graph& graph_;
  const Platform& platform_;
  const Profile& profile_;
  const StoreKind kind_;
  std::vector<Bus> buses_;
  std::vector<Route> routes_;
  // By device: the tensors that it receives lie in shared memory, whose time is all its own.
  std::vector<bool> shares_all_;
};

/// Returns the most bytes that a route moves in the time, alone.
Bytes bytes_in(const Topology& topology, RouteId route, double ms) {
  const double moving_ms = std::max(0.0, ms - topology.route(route).latency_ms);
  return static_cast<Bytes>(moving_ms * topology.alone_gb_per_s(route) * 1e6);
}

}  // namespace

Platform with_measured_store(const Graph& graph, const Platform& platform, const Profile& profile,
                             StoreKind kind) {
  return MeasuredStore(graph, platform, profile, kind).platform();
}

Graph with_measured_in_place(const Graph& graph, const Platform& platform, const Profile& profile) {
  const Topology& topology = *platform.topology();
  std::vector<Operator> operators(graph.operators().begin(), graph.operators().end());
  for (Operator& op : operators) {
    Bytes bytes = op.parameter_bytes;
    for (std::size_t d = 0; d < platform.size() && bytes > 0; ++d) {
      const Configuration& measured = configuration_of(DeviceId(d), platform, profile, graph);
      const auto found = measured.in_place.find(op.signature);
      if (found == measured.in_place.end()) continue;
      const auto known = measured.operators.find(op.signature);
      const double least_ms = known == measured.operators.end() ? 0 : known->second.ms;
      const double ms = std::max(found->second.ms, least_ms);  // it is not less, but for noise
      const auto route = topology.find(StoreId(0), DeviceId(d));
      const Bytes moved = bytes_in(topology, route.value(), ms);
      if (moved == 0) continue;  // no flow, so that nothing would slow it
      op.in_place_by_device[platform.device(DeviceId(d)).name] = ms;
      bytes = std::min(bytes, moved);
    }
    if (!op.in_place_by_device.empty()) op.in_place_bytes = bytes;
  }
  return Graph(graph.name(), std::move(operators), {graph.edges().begin(), graph.edges().end()},
               graph.stage_cost(), graph.inputs());
}

std::string loads_text(const Configuration& configuration) {
  std::string text;
  for (const auto& [kind, loads] : configuration.loads) {
    char line[256];
    std::snprintf(line, sizeof line,
                  "loads from %s start after %.3f ms, wait %.3f ms each and move %.2f GB/s, %.2f a "
                  "rank while all load; operators take %.2f times as long meanwhile, loads %.2f "
                  "times while operators run (measured)\n",
                  std::string(to_string(kind)).c_str(), loads.start_ms, loads.latency_ms,
                  loads.gb_per_s, loads.together_gb_per_s, loads.slowdown, loads.load_slowdown);
    text += line;
  }
  return text;
}

}  // namespace hios
