#pragma once

#include <optional>
#include <string>

#include "engine/run/device_stages.h"
#include "engine/run/step_progress.h"

/// Where a rank stands in its plan, in words, for watchdogs and errors. `device`: where the backend
/// is asynchronous.
namespace hios {

/// `place`: StepProgress::place(). "stage 4: conv_7, conv_9", "waiting for conv_3 from rank 1".
std::string standing_text(std::size_t place, const StepProgress& progress,
                          const std::optional<DeviceStages>& device, const RankPlan& plan,
                          const Graph& graph);

/// A device tells of a failure when it is asked, not when it happens: what it had been given by
/// then, by stream; empty where the failure names its operator itself.
std::string suspects_text(const std::optional<DeviceStages>& device, const RankPlan& plan,
                          const Graph& graph);

}  // namespace hios
