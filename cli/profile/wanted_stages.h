#pragma once

#include <map>
#include <string>
#include <vector>

#include "hios/graph/coarsen.h"
#include "hios/platform/platform.h"
#include "hios/profile/profile.h"
#include "hios/schedule/schedule.h"
#include "scheduler/registry.h"

namespace hios::cli {

/// By the configuration of the profile that lacks them.
using WantedStages = std::map<const Configuration*, std::vector<Stage>>;

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

/// Stages of several configurations as text and back, to tell them to other ranks.
std::string stages_to_text(const std::vector<std::vector<Stage>>& stages);
std::vector<std::vector<Stage>> stages_from_text(const std::string& text);

}  // namespace hios::cli
