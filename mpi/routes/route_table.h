#pragma once

#include <memory>
#include <string>
#include <vector>

#include "mpi/routes/route.h"

namespace hios::mpi {

/// The state that messages share on this rank, by route; null: none.
using SharedByRoutes = std::vector<std::shared_ptr<SharedByRoute>>;

/// The route of every ordered pair of ranks, the same on all ranks.
struct RouteTable {
  std::size_t ranks = 0;
  std::vector<const Route*> by_pair;  ///< [from * ranks + to]; of routes()
  /// By pair: the reason why no better route was chosen; empty: it has the best.
  std::vector<std::string> why_not;
  /// At least one rank computes on a device.
  bool devices = false;
  SharedByRoutes shared;

  /// Returns a table with the same route between all ranks.
  static RouteTable uniform(std::size_t ranks, const Route& route);

  const Route& at(Rank from, Rank to) const { return *by_pair[from.index() * ranks + to.index()]; }
  /// Sets the route of both directions.
  void set(Rank a, Rank b, const Route& route, const std::string& why_not_better = {});
  /// Returns the routes between different ranks, each once, best first.
  std::vector<const Route*> used() const;
  /// Formats a table rank × rank for people, with the reasons below it. `links`, by pair: words
  /// about the way between the two devices, which follow the route; may be empty.
  std::string table(const std::vector<std::string>& links = {}) const;
};

}  // namespace hios::mpi
