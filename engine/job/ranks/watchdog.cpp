#include "engine/job/ranks/watchdog.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "engine/host/clock.h"
#include "hios/base/error.h"
#include "mpi/session/stall_clock.h"

namespace hios {

Watched watched(const Pipeline& pipeline) {
  return {[&pipeline] { return pipeline.progress(); },
          [&pipeline] { return pipeline.current_step(); }};
}

Watched watched(const Executor& executor) {
  return {[&executor] { return executor.progress(); },
          [&executor] { return executor.current_step(); }};
}

Watchdog::Watchdog(Watched watched, Options options, OnStall on_stall)
    : watched_(std::move(watched)),
      options_(std::move(options)),
      on_stall_(std::move(on_stall)),
      thread_([this] { watch(); }) {}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mutex_);
    end_ = true;
  }
  ended_.notify_one();
  thread_.join();
}

void Watchdog::watch() {
  const std::chrono::duration<double> interval(
      std::min(options_.interval_s, options_.timeout_s / 4));
  const Stopwatch stopwatch;
  mpi::StallClock stall(options_.timeout_s, interval.count(), watched_.progress(), 0);
  std::unique_lock lock(mutex_);
  while (!ended_.wait_for(lock, interval, [this] { return end_; })) {
    const std::uint64_t progress = watched_.progress();
    if (!stall.stalled(progress, stopwatch.seconds())) continue;
    on_stall_(report());
    return;
  }
}

std::string Watchdog::report() const {
  char seconds[32];
  std::snprintf(seconds, sizeof seconds, "%g", options_.timeout_s);
  const std::string text = options_.who + ": no progress for " + seconds + " s" +
                           (options_.limit.empty() ? "" : " (" + options_.limit + ")") + ", " +
                           printable_lines(watched_.current_step());
  const std::string line = "error: " + text + "\n";
  // One call, so that lines of several ranks do not mix. No stream, because the hung thread may
  // hold its lock. If even this fails, nothing can be done, and the job ends nevertheless.
  [[maybe_unused]] const auto written = write(options_.descriptor, line.data(), line.size());
  return text;
}

}  // namespace hios
