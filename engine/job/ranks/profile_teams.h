#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/backend/backend.h"
#include "engine/measure/profiler.h"
#include "hios/platform/platform.h"
#include "hios/profile/profile.h"
#include "mpi/transport.h"

/// The teams of ranks of a profile job that are alike, and the configuration of the profile that
/// each team fills.
namespace hios::job {

/// Ranks with a common configuration; the configurations hold no times yet.
struct Teams {
  std::vector<Team> ranks;          ///< ordered by the first rank of each
  std::vector<Configuration> like;  ///< by team: its devices and machine
  std::size_t mine = 0;             ///< the team of this rank
};

/// Gathers the devices of all ranks. `precision` is this rank's. Throws InputError, on all ranks,
/// where backends differ on devices that a schedule could not distinguish. Collective.
Teams gather_teams(mpi::Transport& transport, const Backend& backend, Precision precision);

/// Returns the devices of the job, for schedulers: gpu0, cpu0, cpu1 …
Platform platform_of(const Teams& teams, int streams);

/// Returns the configurations of the profile that the teams fill, one a team; adds those that are
/// missing. Throws InputError where the profile has times of another backend or of another machine.
/// `processor` and `route` are this rank's, which checks its own team's configuration.
std::vector<Configuration*> configurations_of(const Teams& teams, Profile& profile,
                                              const std::string& processor,
                                              const std::string& route);

}  // namespace hios::job
