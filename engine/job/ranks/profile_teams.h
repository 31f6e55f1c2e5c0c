#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/backend/backend.h"
#include "engine/measure/profiler.h"
#include "hios/platform/platform.h"
#include "hios/profile/profile.h"
#include "mpi/transport.h"

/// Which ranks of a profiling job are alike, and which configuration of the profile each of them
/// fills.
namespace hios::job {

/// Ranks with a common configuration; the configurations hold no times yet.
struct Teams {
  std::vector<Team> ranks;          ///< by the first rank of each
  std::vector<Configuration> like;  ///< of each: what it measures, and on which machine
  std::size_t mine = 0;             ///< the team of this rank
};

/// Gathers what every rank computes with. `precision` is this rank's. Throws InputError, on all
/// ranks, where backends differ on devices that a plan could not tell apart. Collective.
Teams gather_teams(mpi::Transport& transport, const Backend& backend, Precision precision);

/// The devices of the job, for schedulers: gpu0, cpu0, cpu1 …
Platform platform_of(const Teams& teams, int streams);

/// The configurations of the profile that the teams fill, one a team; those that are not there are
/// added. Throws InputError where the profile has times of another backend or of another machine
/// (`processor`, `route`: this rank's, which answers for its own team).
std::vector<Configuration*> configurations_of(const Teams& teams, Profile& profile,
                                              const std::string& processor,
                                              const std::string& route);

}  // namespace hios::job
