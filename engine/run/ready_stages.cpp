#include "engine/run/ready_stages.h"

#include <algorithm>

namespace hios {

void note_ready_stages(const RankPlan& plan, RunClocks& clocks) {
  for (StageTimes& stage : clocks.stages) stage.ready_ms = 0;
  for (std::size_t i = 0; i < clocks.receives.size(); ++i) {
    double& ready_ms = clocks.stages[plan.receives[i].stage].ready_ms;
    ready_ms = std::max(ready_ms, clocks.receives[i].end_ms);
  }
}

}  // namespace hios
