#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/job/ranks/watchdog.h"
#include "engine/run/executor.h"
#include "hios/flight/recorder.h"
#include "mpi/session/heartbeat_transport.h"

namespace hios::job {

/// The transport of a job, with a watchdog over the job's current phase. Where a rank hangs for
/// longer than the time-out, the watchdog names its position and the ranks of its host that it
/// waits for, and ends the job. One phase is watched at a time. Used by the main thread.
class Watch {
 public:
  /// `timeout_s`: the time-out of later phases; 0: no watchdog. `recorder` (may be null) gets
  /// phases, calls and steps. `on_stall` is called on a thread of its own after the rank has
  /// printed its position. The default writes the record, waits until the other ranks have printed,
  /// at most 3 s (with ranks on several hosts always), and ends the process with exit status 3,
  /// upon which the launcher ends the others. `transport` and `recorder` outlive this.
  explicit Watch(mpi::Transport& transport, double timeout_s = kDefaultTimeoutSeconds,
                 flight::Recorder* recorder = nullptr, Watchdog::OnStall on_stall = {});

  static constexpr double kDefaultTimeoutSeconds = 60;

  /// Returns the transport to be used, so that its calls count as progress.
  mpi::Transport& transport() { return transport_; }

  void set_timeout(double timeout_s) { timeout_s_ = timeout_s; }
  /// Sets the program's name for its time-out, for the line of a hung rank.
  void name_timeout(std::string name) { timeout_name_ = std::move(name); }
  /// Gives the records of all ranks the same job, and opens those of this host's ranks, without
  /// which a rank cannot say what the others do. Collective; REQUIRES: a recorder on all ranks.
  void meet();
  /// Starts a phase, "setting up": from now on a rank's last call of the transport must not be
  /// longer ago than the time-out plus `extra_s`.
  void phase(const std::string& what, double extra_s = 0);
  /// Watches an executor or a pipeline, whose steps count as progress, while the result lives; no
  /// phase is watched then. `extra_s` is added to the time-out likewise.
  [[nodiscard]] std::unique_ptr<Watchdog> runs(Watched steps, double extra_s = 0);

 private:
  struct Peer {
    Rank rank;
    std::unique_ptr<flight::PeerRecord> record;
  };

  std::unique_ptr<Watchdog> watchdog(Watched watched, double extra_s) const;
  std::string silent_peers() const;
  /// Returns true if all other ranks have printed why they end, or cannot; false where some run on
  /// other hosts.
  bool all_have_spoken() const;
  /// Ends the process once the other ranks have printed, or after a while.
  [[noreturn]] void end_process(const std::string& line) const;

  mpi::HeartbeatTransport transport_;
  flight::Recorder* recorder_;
  std::vector<Peer> peers_;
  double timeout_s_;
  std::string timeout_name_;
  Watchdog::OnStall on_stall_;
  std::unique_ptr<Watchdog> phase_;
};

}  // namespace hios::job
