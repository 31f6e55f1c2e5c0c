#include "engine/job/ranks/wait_samples.h"

#include "mpi/exchange.h"

namespace hios::job {

void WaitSamples::add(const RankTimeline& mine, double latency_ms) {
  ++iterations_;
  latency_ms_ += latency_ms;
  for (const StageTimes& stage : mine.stages) busy_ms_ += stage.end_ms - stage.start_ms;
  for (const TransferTimes& receive : mine.receives) {
    const auto [at, fresh] =
        waits_.emplace(receive.producer, Wait{receive.producer, receive.from, 0});
    at->second.ms += receive.end_ms - receive.start_ms;
  }
}

RecordedWaits WaitSamples::gather(mpi::Transport& transport) const {
  const auto number = static_cast<double>(iterations_);
  DeviceTimes mine{.busy_ms = busy_ms_ / number, .waits = {}};
  for (const auto& [producer, wait] : waits_) {
    if (wait.ms > 0) mine.waits.push_back({wait.producer, wait.from, wait.ms / number});
  }
  tidy_waits(mine.waits);
  RecordedWaits all{latency_ms_ / number, mpi::gather(transport, mine)};
  for (DeviceTimes& rank : all.ranks) {
    rank.idle_ms = all.latency_ms - rank.busy_ms - rank.waiting_ms();
  }
  return all;
}

}  // namespace hios::job
