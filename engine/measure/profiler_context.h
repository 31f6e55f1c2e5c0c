#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "engine/backend/backend.h"
#include "engine/backend/tensor_source.h"
#include "engine/host/clock.h"
#include "engine/host/disturbance.h"
#include "engine/measure/protocol.h"
#include "engine/measure/sweep_times.h"
#include "hios/graph/fusion/coarsen.h"
#include "hios/profile/profile.h"
#include "mpi/transport.h"

namespace hios {

/// What measuring operators, stages and transfers have in common; the inside of a Profiler.
struct ProfilerContext {
  bool leader() const { return transport.rank() == Rank(0); }
  std::size_t team_of(Rank rank) const;
  /// Whether some rank's device is asynchronous. Collective.
  bool any_asynchronous() const;
  /// What a run touches between two uses of an operator's weights, as far as a cache could
  /// remember.
  Bytes cold_bytes() const;
  /// Writes provenance into a team's configuration, and adds the seconds. Collective.
  void describe(Configuration& into, const Stopwatch& stopwatch, std::size_t team) const;

  const CoarseGraph& coarse;
  const Model& model;
  Backend& backend;
  mpi::Transport& transport;
  TensorSource& source;
  DisturbanceReader& disturbance;
  Protocol protocol;
  std::vector<Team> teams;
  std::size_t mine;  ///< the team of this rank
};

}  // namespace hios
