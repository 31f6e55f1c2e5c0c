#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "hios/evaluate/timeline.h"
#include "hios/graph/graph.h"
#include "hios/graph/parameters.h"
#include "hios/platform/platform.h"
#include "hios/schedule/schedule.h"

namespace hios {

/// The parameters that devices hold while a schedule runs, and the lanes that load them, for
/// simulate_flows(): the caller says when loads end and parameters are evicted. Refers to its
/// arguments, which outlive it. One thread at a time.
class Lanes {
 public:
  /// A load that starts now.
  struct Started {
    std::size_t lane = 0;
    RouteId route;
    Bytes size_bytes = 0;
    bool first = false;  ///< of its lane
  };

  /// REQUIRES: a platform with a topology, and a schedule with weights. Throws std::logic_error
  /// where a load has no parameters or no route.
  Lanes(const Graph& graph, const Schedule& schedule, const Platform& platform);

  const ParameterSets& sets() const { return sets_; }
  bool holds(DeviceId device, std::size_t set) const { return of(device, set).held; }
  /// Returns the end of the load that brought them; 0: they are resident. REQUIRES: held.
  double held_since_ms(DeviceId device, std::size_t set) const { return of(device, set).since_ms; }
  /// Returns true once all lanes have ended.
  bool ended() const { return loads_left_ == 0; }

  /// Starts the next load of each lane that may start it, in the order of lanes.
  std::vector<Started> start(double now_ms);
  /// Ends a lane's load, and returns its destination.
  DeviceId end(std::size_t lane, double now_ms);
  /// Frees parameters. Throws std::logic_error where the device does not hold them.
  void evict(DeviceId device, std::size_t set);

  /// Returns the first load that waits, and its reason: for std::logic_error on a deadlock.
  std::optional<std::string> waiting() const;
  /// Returns the times of all loads, by lane, then index. REQUIRES: ended().
  std::vector<LoadTimes> times() const;

 private:
  struct Holding {
    bool held = false;
    double since_ms = 0;
  };
  struct Planned {
    std::size_t set = 0;
    RouteId route;
    LoadTimes times;
  };
  struct State {
    std::vector<Planned> loads;
    std::size_t next = 0;  ///< its load that is under way or starts next
    bool under_way = false;
    double free_ms = 0;
  };

  Holding& of(DeviceId device, std::size_t set) {
    return holdings_[device.index() * sets_.sets().size() + set];
  }
  const Holding& of(DeviceId device, std::size_t set) const {
    return holdings_[device.index() * sets_.sets().size() + set];
  }
  std::size_t set_of(OpId op) const;
  void plan_lane(const Lane& lane);
  void fill_memory(const Schedule& schedule);
  bool source_holds(const Planned& load) const;
  bool has_room(const Planned& load) const;

  const Graph& graph_;
  const Platform& platform_;
  const Topology& topology_;
  ParameterSets sets_;
  std::vector<Holding> holdings_;  // device × set
  std::vector<Bytes> used_bytes_;  // by device: outputs, parameters held and received
  std::vector<State> lanes_;
  std::size_t loads_left_ = 0;
};

}  // namespace hios
