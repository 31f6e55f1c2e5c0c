#pragma once

#include "engine/run/plan.h"
#include "engine/run/run_clocks.h"

namespace hios {

/// Notes when each stage was ready: when the last of its tensors from other ranks was there, 0
/// where it needs none. The first stage that needs a tensor waits for it. REQUIRES: the plan's
/// clocks.
void note_ready_stages(const RankPlan& plan, RunClocks& clocks);

}  // namespace hios
