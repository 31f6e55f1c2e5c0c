#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "engine/host/disturbance.h"
#include "engine/measure/routes/route_sources.h"
#include "hios/discovery/shared_buses.h"
#include "mpi/transport.h"

/// The rates of routes alone, in pairs and all at once.
namespace hios {

struct RouteFigures {
  discovery::RouteRates rates;
  std::vector<double> latency_ms;  ///< of kSmallestMove bytes, by route
  bool disturbed = false;          ///< some rank's machine did other work meanwhile
};

/// The routes that end at this rank, by position among those of all ranks.
using RouteSources = std::map<std::size_t, std::unique_ptr<RouteSource>>;

struct RouteProtocol {
  double window_ms = 100;   ///< the time for which a set of routes carries bytes
  int rounds = 3;           ///< all sets are measured so often, in turns; the fastest counts
  bool one_thread = false;  ///< the device is asynchronous: the main thread moves all bytes
  /// Above so many routes pairs are not measured, since there are too many: pairs then have the
  /// rates of routes alone, so that only all at once can show what they share.
  std::size_t most_in_pairs = 24;
  /// Read around the sets in which one route ends at this rank: the threads of several take cores
  /// from each other. Null: nothing is known of disturbances.
  DisturbanceReader* disturbance = nullptr;
  /// Called on every rank before each set with the numbers of sets that were measured and of all.
  std::function<void(std::size_t done, std::size_t all)> progress = {};
};

/// Returns the time that measuring so many routes takes, without latencies and the slack of slow
/// moves.
double expected_seconds(std::size_t count, const RouteProtocol& protocol);

/// Measures the routes of all ranks. In each set of active routes every one has a thread of its
/// own, which moves bytes in large pieces until the window is over. Collective: all ranks call it
/// with the same count, each with its own sources, and get the same result.
RouteFigures route_figures(mpi::Transport& transport, const RouteSources& mine, std::size_t count,
                           const RouteProtocol& protocol);

}  // namespace hios
