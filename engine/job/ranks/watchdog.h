#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "engine/run/executor.h"
#include "engine/run/pipeline.h"

namespace hios {

/// The progress that a watchdog observes. Both functions are called from its own thread.
struct Watched {
  std::function<std::uint64_t()> progress;    ///< a count that changes unless the rank hangs
  std::function<std::string()> current_step;  ///< in words
};
/// Returns the progress of an executor or a pipeline, which must outlive the watchdog.
Watched watched(const Executor& executor);
Watched watched(const Pipeline& pipeline);

/// Ends a job that hangs: MPI notices neither an endless wait nor a stopped peer. The watchdog's
/// own thread looks a few times a second. Once `progress` has not moved for the time-out, it writes
/// one line that names rank, host and step, straight to a file descriptor. Then it calls `on_stall`
/// with that line (without "error: "), once. Where the whole job was stopped and continued, the
/// time-out begins again (mpi/session/stall_clock.h).
///
/// Only the main thread may call MPI, and it is the one that hangs, so `on_stall` cannot abort the
/// job in MPI's way. In the programs it ends its own process by std::_Exit(3), upon which the
/// launcher ends the others. Each rank has a watchdog, so each prints its own step: the rank that
/// computes or sleeps is the one that hangs, and ranks that wait name the rank that they wait for.
class Watchdog {
 public:
  using OnStall = std::function<void(const std::string& line)>;

  struct Options {
    double timeout_s = 60;
    std::string who;         ///< "rank 1 on node7"
    int descriptor = 2;      ///< standard error
    double interval_s = .2;  ///< between two looks, at most
    std::string limit = {};  ///< the program's name for the time-out, for the line; may be empty
  };

  /// Starts to watch. REQUIRES: timeout_s > 0.
  Watchdog(Watched watched, Options options, OnStall on_stall);
  /// Stops watching; waits for `on_stall`, if that runs.
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

 private:
  void watch();
  std::string report() const;

  Watched watched_;
  Options options_;
  OnStall on_stall_;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool end_ = false;
  std::thread thread_;
};

}  // namespace hios
