#pragma once

#include <string>

#include "mpi/session/session.h"

/// A time limit for the two spans that no watchdog of the programs covers, the start and the end of
/// a session: calls of MPI wait there for every rank, and MPI does not notice that one has been
/// stopped.
namespace hios::mpi {

/// Ends this process with one line and exit status 3 if a step still lasts after the time-out; then
/// the launcher ends the others. If the process was stopped and continued, the seconds begin again
/// (mpi/session/stall_clock.h). At most one in a process at a time; it uses SIGALRM, whose earlier
/// handler it restores, since a thread of its own could be refused.
class StartupTimeout {
 public:
  /// Begins the first step. `doing` ends "error: rank 1 on node7: no answer for 120 s while ".
  StartupTimeout(const SessionTimeout& timeout, const std::string& doing);
  ~StartupTimeout();
  StartupTimeout(const StartupTimeout&) = delete;
  StartupTimeout& operator=(const StartupTimeout&) = delete;

  /// Ends the step and begins another, with all of the seconds.
  void next(const std::string& doing);

 private:
  SessionTimeout timeout_;
  bool armed_ = false;
};

}  // namespace hios::mpi
