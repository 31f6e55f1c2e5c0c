#pragma once

#include <string>
#include <vector>

#include "engine/job/profile_job.h"
#include "hios/graph/fusion/coarsen.h"
#include "hios/platform/platform.h"
#include "hios/profile/profile.h"
#include "hios/schedule/schedule.h"
#include "scheduler/registry.h"

namespace hios::cli {

using job::WantedStages;

/// The stages of several groups that the registry's schedulers of these names ask for on this
/// platform and that the profile does not have yet, each once, in the order in which they were
/// asked. What a scheduler asks may depend on the answers, so the caller measures and asks again
/// until nothing is wanted.
WantedStages wanted_stages(const Graph& graph, const Platform& platform, const Profile& profile,
                           const scheduler::Registry& registry,
                           const std::vector<std::string>& algorithms, double time_limit_s);

/// The same for a schedule that exists.
WantedStages wanted_stages(const Graph& graph, const Platform& platform, const Profile& profile,
                           const Schedule& schedule);

}  // namespace hios::cli
