#include "engine/run/clocks/run_clocks.h"

#include <algorithm>
#include <map>
#include <utility>
#include <variant>

#include "engine/run/plan/plan.h"

namespace hios {

void note_ready_stages(const RankPlan& plan, RunClocks& clocks) {
  for (StageTimes& stage : clocks.stages) stage.ready_ms = 0;
  for (const Step& step : plan.steps) {
    const auto* const wait = std::get_if<AwaitReceive>(&step);
    if (!wait) continue;
    double& ready_ms = clocks.stages[wait->stage].ready_ms;
    ready_ms = std::max(ready_ms, clocks.receives[wait->receive].end_ms);
  }
}

Timeline join(const std::vector<RankTimeline>& by_rank) {
  Timeline timeline;
  std::map<std::pair<OpId, DeviceId>, double> started;
  for (const RankTimeline& rank : by_rank) {
    timeline.stages.push_back(rank.stages);
    for (const StageTimes& stage : rank.stages) {
      timeline.latency_ms = std::max(timeline.latency_ms, stage.end_ms);
    }
    for (const TransferTimes& send : rank.sends) {
      started[{send.producer, send.to}] = send.start_ms;
    }
  }
  for (const RankTimeline& rank : by_rank) {
    for (TransferTimes transfer : rank.receives) {
      transfer.start_ms = started.at({transfer.producer, transfer.to});
      // Each rank counts from its own exit from the barrier, and these differ slightly.
      transfer.end_ms = std::max(transfer.end_ms, transfer.start_ms);
      timeline.transfers.push_back(transfer);
    }
  }
  sort_transfers(timeline.transfers);
  std::map<std::pair<std::size_t, std::size_t>, double> sent;
  for (const RankTimeline& rank : by_rank) {
    for (const LoadTimes& load : rank.sent_loads) sent[{load.lane, load.index}] = load.start_ms;
  }
  for (const RankTimeline& rank : by_rank) {
    for (LoadTimes load : rank.loads) {
      const auto found = sent.find({load.lane, load.index});
      if (found != sent.end()) load.start_ms = std::min(found->second, load.end_ms);
      load.ready_ms = std::min(load.ready_ms, load.start_ms);
      timeline.loads.push_back(load);
    }
  }
  std::ranges::sort(timeline.loads, {},
                    [](const LoadTimes& load) { return std::pair(load.lane, load.index); });
  return timeline;
}

}  // namespace hios
