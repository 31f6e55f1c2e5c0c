#pragma once

#include <string>

/// For the two moments that no watchdog of the programs covers: MPI_Init and MPI_Finalize wait for
/// every rank, and MPI does not notice that one has been stopped.
namespace hios::mpi {

/// Ends this process with one line and exit status 3 if it still lives after `seconds` (0: it may),
/// upon which the launcher ends the others. One at a time in a process; it owns SIGALRM meanwhile.
class StartupTimeout {
 public:
  /// `doing` ends "error: rank 1 on node7: no answer for 120 s while ".
  StartupTimeout(double seconds, const std::string& doing);
  ~StartupTimeout();
  StartupTimeout(const StartupTimeout&) = delete;
  StartupTimeout& operator=(const StartupTimeout&) = delete;
};

}  // namespace hios::mpi
