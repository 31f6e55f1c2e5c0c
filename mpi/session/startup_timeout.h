#pragma once

#include <string>

/// A time limit for the two moments that no watchdog of the programs covers: MPI_Init and
/// MPI_Finalize wait for every rank, and MPI does not notice that one has been stopped.
namespace hios::mpi {

/// Ends this process with one line and exit status 3 if this object still exists after `seconds`
/// (0: no limit); then the launcher ends the others. If the process was stopped and continued, the
/// seconds begin again (mpi/session/stall_clock.h). At most one in a process at a time; it uses
/// SIGALRM, whose earlier handler it restores.
class StartupTimeout {
 public:
  /// `doing` ends "error: rank 1 on node7: no answer for 120 s while ".
  StartupTimeout(double seconds, const std::string& doing);
  ~StartupTimeout();
  StartupTimeout(const StartupTimeout&) = delete;
  StartupTimeout& operator=(const StartupTimeout&) = delete;

 private:
  bool armed_ = false;
};

}  // namespace hios::mpi
