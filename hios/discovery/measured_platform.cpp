#include "hios/discovery/measured_platform.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace hios::discovery {
namespace {

const std::string& name_of(const Platform& platform, const Holder& holder) {
  const auto* const store = std::get_if<StoreId>(&holder);
  return store ? platform.topology()->store(*store).name
               : platform.device(std::get<DeviceId>(holder)).name;
}

/// Returns a name of the bus that no bus in `taken` has, and adds it there.
std::string name_of(const Platform& platform, const std::vector<RouteFigure>& figures,
                    const SharedBus& bus, std::set<std::string>& taken) {
  const RouteFigure& first = figures[bus.routes.front()];
  const auto all = [&](auto same) {
    return std::ranges::all_of(bus.routes, [&](std::size_t route) { return same(figures[route]); });
  };
  std::string name = "shared";
  if (all([&](const RouteFigure& each) { return each.from == first.from; })) {
    name = name_of(platform, first.from) + "-out";
  } else if (all([&](const RouteFigure& each) { return each.to == first.to; })) {
    name = platform.device(first.to).name + "-in";
  }
  std::string unique = name;
  for (int n = 2; !taken.insert(unique).second; ++n) unique = name + "-" + std::to_string(n);
  return unique;
}

/// Buses under construction, each once.
class BusList {
 public:
  explicit BusList(const Topology& reported) : reported_(reported) {}

  BusId add(Bus bus) {
    buses_.push_back(std::move(bus));
    return BusId(buses_.size() - 1);
  }
  /// Returns the new id of a described bus, which is added when it is first used.
  BusId kept(BusId old) {
    const auto found = kept_.find(old);
    if (found != kept_.end()) return found->second;
    return kept_.emplace(old, add(reported_.bus(old))).first->second;
  }
  std::vector<Bus> take() { return std::move(buses_); }

 private:
  const Topology& reported_;
  std::vector<Bus> buses_;
  std::map<BusId, BusId> kept_;
};

}  // namespace

Described with_measurements(const Described& reported, const std::vector<RouteFigure>& figures,
                            const std::vector<SharedBus>& shared) {
  const Topology& topology = *reported.platform.topology();
  std::set<std::string> names;
  for (const Bus& bus : topology.buses()) names.insert(bus.name);
  BusList buses(topology);
  std::vector<std::vector<BusId>> over(figures.size());
  for (const SharedBus& bus : shared) {
    const BusId id = buses.add({name_of(reported.platform, figures, bus, names), bus.gb_per_s});
    for (const std::size_t route : bus.routes) over[route].push_back(id);
  }
  std::map<RouteId, std::size_t> figure_of;
  for (std::size_t f = 0; f < figures.size(); ++f)
    figure_of.emplace(topology.find(figures[f].from, figures[f].to).value(), f);

  Described result{Platform(), reported.assumed, reported.assumed_of_devices};
  std::vector<Route> routes(topology.routes().begin(), topology.routes().end());
  for (std::size_t r = 0; r < routes.size(); ++r) {
    const auto measured = figure_of.find(RouteId(r));
    if (measured == figure_of.end()) {
      for (BusId& bus : routes[r].over) bus = buses.kept(bus);
      continue;
    }
    const RouteFigure& figure = figures[measured->second];
    routes[r].over = over[measured->second];
    routes[r].latency_ms = figure.latency_ms;
    routes[r].gb_per_s = figure.gb_per_s;
    result.assumed[r].clear();
  }
  const auto devices = reported.platform.devices();
  const auto stores = topology.stores();
  result.platform = Platform({devices.begin(), devices.end()}, {stores.begin(), stores.end()},
                             buses.take(), std::move(routes));
  return result;
}

}  // namespace hios::discovery
