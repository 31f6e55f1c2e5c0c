// Walks back from the stage that ends last. A stage that waited for a tensor started because of the
// tensor, and so because of its producer's stage; else because of the stage before it on its
// device. Each step goes to a stage that the schedule orders before, so the walk ends, also with
// the clocks of a measured timeline, which differ by rank.
#include "hios/evaluate/limits/critical_chain.h"

#include <algorithm>

#include "hios/evaluate/limits/arrivals.h"

namespace hios {
namespace {

struct StageAt {
  DeviceId device;
  std::size_t stage = 0;
};

/// Returns the stage that ends last. REQUIRES: the timeline has a stage.
StageAt last_stage(const Timeline& timeline) {
  StageAt last;
  double end_ms = -1;
  for (std::size_t d = 0; d < timeline.stages.size(); ++d) {
    const auto& stages = timeline.stages[d];
    if (stages.empty() || stages.back().end_ms <= end_ms) continue;
    last = {DeviceId(d), stages.size() - 1};
    end_ms = stages.back().end_ms;
  }
  return last;
}

}  // namespace

CriticalChain critical_chain(const Graph& graph, const Schedule& schedule, const Timeline& timeline,
                             const CostModel* costs) {
  CriticalChain chain;
  if (graph.size() == 0) return chain;
  const Arrivals arrivals(graph, schedule, timeline, costs);
  StageAt at = last_stage(timeline);
  for (bool more = true; more; ++chain.stages) {
    const StageTimes& own = timeline.stages[at.device.index()][at.stage];
    chain.stages_ms += own.end_ms - own.start_ms;
    const bool waited = own.ready_ms > own.awaited_ms;
    const auto last = waited ? arrivals.last(at.device, at.stage) : std::nullopt;
    if (last) {
      const AssignedTo& producer = arrivals.assignment()[last->producer];
      const double sent_ms = timeline.stages[last->from.index()][producer.stage].end_ms;
      const double ms = std::max(0.0, own.start_ms - sent_ms);
      chain.transfers.push_back({last->producer, last->from, at.device, ms});
      chain.transfers_ms += ms;
      at = {producer.device, producer.stage};
    } else if (at.stage > 0) {
      --at.stage;
    } else {
      more = false;
    }
  }
  std::reverse(chain.transfers.begin(), chain.transfers.end());
  chain.other_ms = timeline.latency_ms - chain.stages_ms - chain.transfers_ms;
  return chain;
}

}  // namespace hios
