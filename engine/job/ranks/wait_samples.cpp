#include "engine/job/ranks/wait_samples.h"

#include <algorithm>

#include "mpi/exchange.h"

namespace hios::job {

void WaitSamples::add(const RankTimeline& mine, double latency_ms) {
  Iteration& added = iterations_.emplace_back(Iteration{.latency_ms = latency_ms});
  for (const StageTimes& stage : mine.stages) added.busy_ms += stage.end_ms - stage.start_ms;
  for (const TransferTimes& receive : mine.receives) {
    const double ms = receive.end_ms - receive.start_ms;
    if (ms > 0) added.waits.push_back({receive.producer, receive.from, ms});
  }
  added.load_waits = mine.load_waits;
}

RecordedWaits WaitSamples::gather(mpi::Transport& transport) const {
  std::vector<Iteration> fastest = iterations_;
  std::ranges::stable_sort(fastest, {}, &Iteration::latency_ms);
  fastest.resize((fastest.size() + 1) / 2);
  const auto number = static_cast<double>(fastest.size());
  RecordedWaits all;
  DeviceTimes mine;
  for (const Iteration& each : fastest) {
    all.latency_ms += each.latency_ms / number;
    mine.busy_ms += each.busy_ms / number;
    for (const Wait& wait : each.waits)
      mine.waits.push_back({wait.producer, wait.from, wait.ms / number});
    for (const LoadWait& wait : each.load_waits)
      mine.load_waits.push_back({wait.of, wait.lane, wait.ms / number});
  }
  tidy_waits(mine.waits);
  tidy_waits(mine.load_waits);
  all.ranks = mpi::gather(transport, mine);
  for (DeviceTimes& rank : all.ranks) {
    rank.idle_ms = all.latency_ms - rank.busy_ms - rank.waiting_ms();
  }
  return all;
}

}  // namespace hios::job
