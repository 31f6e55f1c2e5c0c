#pragma once

#include <string>

/// For the two moments that no watchdog of the programs covers: MPI_Init and MPI_Finalize wait for
/// every rank, and MPI does not notice that one has been stopped.
namespace hios::mpi {

/// Ends this process with one line and exit status 3 if it still lives after `seconds`, upon which
/// the launcher ends the others. One at a time in a process; it owns SIGALRM meanwhile.
class Patience {
 public:
  /// `doing` ends "error: rank 1 on node7: no answer for 120 s while ".
  Patience(unsigned seconds, const std::string& doing);
  ~Patience();
  Patience(const Patience&) = delete;
  Patience& operator=(const Patience&) = delete;
};

}  // namespace hios::mpi
