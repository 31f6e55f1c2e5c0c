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

/// Returns true for loads. They are measured together, so that it is known what they share;
/// messages are measured alone.
bool is_load(const RouteFigure& figure) { return std::holds_alternative<StoreId>(figure.from); }

/// Described buses, as fast as measured loads show them to be, and which of them other routes use.
class DescribedBuses {
 public:
  DescribedBuses(const Topology& topology, const std::map<RouteId, std::size_t>& figure_of,
                 const std::vector<RouteFigure>& figures, const std::vector<SharedBus>& shared)
      : buses_(topology.buses().begin(), topology.buses().end()),
        has_others_(buses_.size(), false) {
    std::vector<double> alone;
    for (const RouteFigure& figure : figures) alone.push_back(figure.gb_per_s);
    const std::vector<double> together = rates_together(alone, shared);
    std::vector<double> carried(buses_.size(), 0);  // by all measured loads at once
    for (const auto& [route, f] : figure_of) {
      if (!is_load(figures[f])) continue;
      for (const BusId bus : topology.route(route).over) {
        Bus& its = buses_[bus.index()];
        carried[bus.index()] += together[f];
        its.gb_per_s = std::max({its.gb_per_s, alone[f], carried[bus.index()]});
      }
    }
    for (std::size_t r = 0; r < topology.routes().size(); ++r) {
      const auto found = figure_of.find(RouteId(r));
      const double least = found == figure_of.end() ? 0 : figures[found->second].gb_per_s;
      if (found != figure_of.end() && is_load(figures[found->second])) continue;
      for (const BusId bus : topology.routes()[r].over) {
        if (buses_[bus.index()].gb_per_s >= least) has_others_[bus.index()] = true;
      }
    }
  }

  const Bus& bus(BusId id) const { return buses_[id.index()]; }
  /// Returns true if a measured route goes on using the bus: the bus carries as much, and a route
  /// uses it of which it is not known what it shares with loads.
  bool stays(BusId id, const RouteFigure& figure) const {
    return has_others_[id.index()] && bus(id).gb_per_s >= figure.gb_per_s;
  }

 private:
  std::vector<Bus> buses_;
  std::vector<bool> has_others_;
};

/// Buses under construction, each once.
class BusList {
 public:
  explicit BusList(const DescribedBuses& described) : described_(described) {}

  BusId add(Bus bus) {
    buses_.push_back(std::move(bus));
    return BusId(buses_.size() - 1);
  }
  /// Returns the new id of a described bus, which is added when it is first used.
  BusId kept(BusId old) {
    const auto found = kept_.find(old);
    if (found != kept_.end()) return found->second;
    return kept_.emplace(old, add(described_.bus(old))).first->second;
  }
  std::vector<Bus> take() { return std::move(buses_); }

 private:
  const DescribedBuses& described_;
  std::vector<Bus> buses_;
  std::map<BusId, BusId> kept_;
};

}  // namespace

Described with_measurements(const Described& reported, const std::vector<RouteFigure>& figures,
                            const std::vector<SharedBus>& shared) {
  const Topology& topology = *reported.platform.topology();
  std::set<std::string> names;
  for (const Bus& bus : topology.buses()) names.insert(bus.name);
  std::map<RouteId, std::size_t> figure_of;
  for (std::size_t f = 0; f < figures.size(); ++f)
    figure_of.emplace(topology.find(figures[f].from, figures[f].to).value(), f);
  const DescribedBuses described(topology, figure_of, figures, shared);
  BusList buses(described);
  std::vector<std::vector<BusId>> over(figures.size());
  for (const SharedBus& bus : shared) {
    const BusId id = buses.add({name_of(reported.platform, figures, bus, names), bus.gb_per_s});
    for (const std::size_t route : bus.routes) over[route].push_back(id);
  }

  Described result{Platform(), reported.assumed, reported.assumed_of_devices};
  std::vector<Route> routes(topology.routes().begin(), topology.routes().end());
  for (std::size_t r = 0; r < routes.size(); ++r) {
    const auto measured = figure_of.find(RouteId(r));
    if (measured == figure_of.end()) {
      for (BusId& bus : routes[r].over) bus = buses.kept(bus);
      continue;
    }
    const RouteFigure& figure = figures[measured->second];
    std::vector<BusId> now;
    for (const BusId bus : routes[r].over) {
      if (described.stays(bus, figure)) now.push_back(buses.kept(bus));
    }
    now.insert(now.end(), over[measured->second].begin(), over[measured->second].end());
    routes[r].over = std::move(now);
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
