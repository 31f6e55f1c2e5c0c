#include "scheduler/cold/bounds/store_cut.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <variant>
#include <vector>

// A bus is two nodes, with an arc of its bandwidth between them: all routes over it share that. A
// route is a path through its buses from a store, or from a device that passes parameters on, to a
// device. Its own limit is one of each flow, so its first arc has that limit for each flow that can
// use it at a time: a load of each set, since a device loads no set twice, and one read in place.
//
// Claim: the flows that cross a cut of this network never move more bytes together than the
// capacity of its arcs. Each flow that crosses uses an arc of the cut; those over a bus share its
// bandwidth, and the first arc of a route has room for all flows of the route. Where two routes
// share a bus, the network has paths that change from one to the other. They only make the cut
// larger.
//
// The least cut is found by augmenting shortest paths (Edmonds and Karp). Its value is the sum of
// the capacities of the cut that is left, not the flow, so that no rounding makes it too small.
//
// Tests: tests/scheduler/cold/bounds_test.cpp.

namespace hios::scheduler {
namespace {

constexpr double kBytesPerMsOfGb = 1e6;  ///< of a GB a second
constexpr double kUnlimitedRate = std::numeric_limits<double>::infinity();

class FlowNetwork {
 public:
  explicit FlowNetwork(std::size_t nodes) : arcs_of_(nodes) {}

  void add(std::size_t from, std::size_t to, double capacity) {
    arcs_of_[from].push_back(arcs_.size());
    arcs_.push_back({to, capacity, capacity});
    arcs_of_[to].push_back(arcs_.size());
    arcs_.push_back({from, 0, 0});
  }

  double least_cut(std::size_t source, std::size_t sink) {
    while (const auto path = shortest_path(source, sink)) {
      double least = kUnlimitedRate;
      for (const std::size_t arc : *path) least = std::min(least, arcs_[arc].left);
      if (least == kUnlimitedRate) return kUnlimitedRate;
      for (const std::size_t arc : *path) {
        arcs_[arc].left -= least;
        arcs_[arc ^ 1].left += least;
      }
    }
    double cut = 0;
    for (std::size_t arc = 0; arc < arcs_.size(); arc += 2) {
      const bool from_inside = reached_[arcs_[arc + 1].to];
      if (from_inside && !reached_[arcs_[arc].to]) cut += arcs_[arc].capacity;
    }
    return cut;
  }

 private:
  struct ArcTo {
    std::size_t to = 0;
    double capacity = 0;
    double left = 0;
  };

  std::optional<std::vector<std::size_t>> shortest_path(std::size_t source, std::size_t sink) {
    reached_.assign(arcs_of_.size(), false);
    std::vector<std::size_t> by(arcs_of_.size(), 0), queue = {source};
    reached_[source] = true;
    for (std::size_t i = 0; i < queue.size() && !reached_[sink]; ++i) {
      for (const std::size_t arc : arcs_of_[queue[i]]) {
        if (!(arcs_[arc].left > 0) || reached_[arcs_[arc].to]) continue;
        reached_[arcs_[arc].to] = true;
        by[arcs_[arc].to] = arc;
        queue.push_back(arcs_[arc].to);
      }
    }
    if (!reached_[sink]) return std::nullopt;
    std::vector<std::size_t> path;
    for (std::size_t node = sink; node != source; node = arcs_[by[node] ^ 1].to) {
      path.push_back(by[node]);
    }
    return path;
  }

  std::vector<ArcTo> arcs_;  // an arc and its reverse next to each other
  std::vector<std::vector<std::size_t>> arcs_of_;
  std::vector<bool> reached_;  // by the last search
};

}  // namespace

double cut_bytes_per_ms(const Platform& platform, std::span<const DeviceId> into,
                        std::size_t sets) {
  const Topology& topology = *platform.topology();
  const std::size_t devices = platform.size(), source = devices, sink = devices + 1;
  const auto bus_begin = [&](BusId bus) { return devices + 2 + 2 * bus.index(); };
  const auto bus_end = [&](BusId bus) { return bus_begin(bus) + 1; };
  FlowNetwork network(devices + 2 + 2 * topology.buses().size());
  for (std::size_t b = 0; b < topology.buses().size(); ++b) {
    network.add(bus_begin(BusId(b)), bus_end(BusId(b)),
                topology.bus(BusId(b)).gb_per_s * kBytesPerMsOfGb);
  }
  const double most_flows = static_cast<double>(sets) + 1;
  for (const Route& route : topology.routes()) {
    const auto* device = std::get_if<DeviceId>(&route.from);
    std::size_t at = device ? device->index() : source;
    double capacity = most_flows * route.gb_per_s * kBytesPerMsOfGb;
    for (const BusId bus : route.over) {
      network.add(at, bus_begin(bus), capacity);
      at = bus_end(bus);
      capacity = kUnlimitedRate;
    }
    network.add(at, route.to.index(), capacity);
  }
  for (const DeviceId device : into) network.add(device.index(), sink, kUnlimitedRate);
  return network.least_cut(source, sink);
}

}  // namespace hios::scheduler
