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

/// Returns the stages of several groups whose cost the registry's schedulers of these names request
/// on this platform and the profile lacks, each once, in the order of the requests. A scheduler's
/// requests may depend on costs, so the caller measures and calls again until nothing is wanted.
WantedStages wanted_stages(const Graph& graph, const Platform& platform, const Profile& profile,
                           const scheduler::Registry& registry,
                           const std::vector<std::string>& algorithms, double time_limit_s);

/// Returns the stages of an existing schedule that the profile lacks.
WantedStages wanted_stages(const Graph& graph, const Platform& platform, const Profile& profile,
                           const Schedule& schedule);

}  // namespace hios::cli
