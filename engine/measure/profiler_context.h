#pragma once

#include <cstddef>
#include <vector>

#include "engine/host/clock.h"
#include "engine/host/disturbance.h"
#include "engine/measure/protocol.h"
#include "engine/measure/sweep_times.h"
#include "engine/run/rank_context.h"
#include "hios/profile/profile.h"

namespace hios {

/// The state that all measurements of a Profiler share.
struct ProfilerContext : RankContext {
  bool leader() const { return transport.rank() == Rank(0); }
  std::size_t team_of(Rank rank) const;
  /// Returns true if some rank's device is asynchronous. Collective.
  bool any_asynchronous() const;
  /// Returns the bytes that a run touches between two uses of an operator's weights, at most those
  /// that caches hold.
  Bytes cold_bytes() const;
  /// Writes provenance into a team's configuration, and adds the seconds. Collective.
  void describe(Configuration& into, const Stopwatch& stopwatch, std::size_t team) const;

  DisturbanceReader& disturbance;
  Protocol protocol;
  std::vector<Team> teams;
  std::size_t mine = 0;  ///< the team of this rank
};

}  // namespace hios
